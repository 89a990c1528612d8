package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// sightingRule is what a member knows of tokens: when it last asked, and the latest sighting that it may name. As a
// guardian it also knows the time and the sender of the last heartbeat, and the token about which it asked last.
type sightingRule struct {
	asked, seen   policy.Time
	heartbeatAt   policy.Time
	heartbeatFrom wire.MemberID
	about         wire.Ref
}

// NewSightingChecker checks what members tell each other about the last sighting of a token. No member names a later
// time than it knows from its own dealings with a token, or was told, counted from its question. A guardian that has
// heard the holder says so. And a member that was only told of a token waits a lap longer, before it makes a new one,
// than the member that saw it.
func NewSightingChecker() sim.Watcher {
	return sim.EachMember(func(me *sightingRule, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Ends() {
			me.heartbeatFrom = wire.MemberID{}
		}
		if o.Kind != sim.Stepped {
			return nil
		}
		received := o.On(policy.Received)
		// A heartbeat that answers may be about an overtaken copy, or about another token than the guarded one.
		if m := &o.Event.Msg; received && m.Kind == guardian.KindHeartbeat && o.Expected && o.Of == 0 &&
			(m.Exchange == 0 || m.Token.ID == me.about.ID && m.Token.Seq >= me.about.Seq) {
			me.heartbeatAt, me.heartbeatFrom = o.At, m.From
		}
		told := received && o.Event.Msg.Kind == wander.KindSeen
		asked := received && o.Event.Msg.Kind == wander.KindInquiry
		switch {
		case told && o.Expected:
			if err := me.told(c, o); err != nil {
				return err
			}
		case !told && !asked && !o.On(policy.Woke) && (!received || o.Expected):
			me.seen = o.At
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Tell && e.Note == wander.NoteInquired:
				me.asked = o.At
			case e.Kind == policy.Tell && e.Note != wander.NoteSeen && !e.Token.ID.IsZero():
				me.seen = o.At
			case e.Kind == policy.Send && e.Msg.Kind == guardian.KindAsk:
				me.about = e.Msg.Token
			case e.Kind == policy.Send && e.Msg.Kind == wander.KindSeen:
				if err := me.tells(c, o, time.Duration(e.Msg.Nonce)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// told checks what a member does with a sighting later than its own.
func (me *sightingRule) told(c *sim.Cluster, o *sim.Occurrence) error {
	at := me.asked.Add(-time.Duration(o.Event.Msg.Nonce))
	if at <= me.seen {
		return nil
	}
	me.seen = at
	if !o.Completes() {
		return nil
	}
	s := Detail(c, o.Member)
	if lap := s.MaxInterval / 3; s.RegenerateArmed && s.RegenerateAt < at.Add(s.RegenerateAfter).Add(lap) {
		return fmt.Errorf(
			"sighting: %s is told of a token, and makes one %v after that instead of %v, and a lap of %v later",
			o.Who(), s.RegenerateAt.Sub(at), s.RegenerateAfter, lap)
	}
	return nil
}

// tells checks the sighting that a member names.
func (me *sightingRule) tells(c *sim.Cluster, o *sim.Occurrence, age time.Duration) error {
	if o.Completes() {
		// A run goes on even when its token is lost.
		if s := c.Status(o.Member); s.Holding || s.Why == wander.WhyRunning {
			return nil
		}
		if Detail(c, o.Member).Keeps && age == 1 {
			return nil // It guards a grant whose holder may be away.
		}
	}
	if since := o.At.Sub(me.heartbeatAt); !me.heartbeatFrom.IsZero() && o.Completes() && age > max(since, 1) {
		if s := Detail(c, o.Member); s.Keeps && s.KeepsFor == me.heartbeatFrom {
			return fmt.Errorf("sighting: %s says that it knows of no token in the last %v, and heard its holder %v ago",
				o.Who(), age, since)
		}
	}
	if knows := o.At.Sub(me.seen); age < knows {
		return fmt.Errorf("sighting: %s says that it saw a token %v ago, and knows of none in the last %v", o.Who(),
			age, knows)
	}
	return nil
}
