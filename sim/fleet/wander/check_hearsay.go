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

// HearsayChecker checks what members tell each other about the last sighting of a token. No member names a later time than it knows from
// its own dealings with a token, or was told, counted from its question. A guardian that has heard the holder says so. And a member
// that was only told of a token waits a lap longer than the one that saw it before it makes a new one.
type HearsayChecker struct {
	// asked is when each member last asked, seen the latest sighting that it may name.
	asked, seen map[int]policy.Time
	// heard is each guardian's last beat.
	heard map[int]beat
}

// beat is the time and the sender of a beat.
type beat struct {
	at   policy.Time
	from wire.MemberID
}

// NewHearsayChecker returns a checker of one run.
func NewHearsayChecker() *HearsayChecker {
	return &HearsayChecker{asked: map[int]policy.Time{}, seen: map[int]policy.Time{}, heard: map[int]beat{}}
}

// Watch implements [sim.Watcher].
func (k *HearsayChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.heard, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	// A beat with an answer is of an overtaken copy.
	if o.Event.Kind == policy.Received && o.Event.Msg.Kind == guardian.KindBeat && o.Expected && o.Of == 0 {
		k.heard[o.Member] = beat{at: o.At, from: o.Event.Msg.From}
	}
	told := o.Event.Kind == policy.Received && o.Event.Msg.Kind == wander.KindSeen
	asked := o.Event.Kind == policy.Received && o.Event.Msg.Kind == wander.KindInquiry
	wakes := o.Event.Kind == policy.Woke
	switch {
	case told && o.Expected:
		if err := k.told(c, o); err != nil {
			return err
		}
	case !told && !asked && !wakes && (o.Event.Kind != policy.Received || o.Expected):
		k.seen[o.Member] = o.At
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Tell && e.Note == wander.NoteInquired:
			k.asked[o.Member] = o.At
		case e.Kind == policy.Tell && e.Note != wander.NoteSeen && !e.Token.ID.IsZero():
			k.seen[o.Member] = o.At
		case e.Kind == policy.Send && e.Msg.Kind == wander.KindSeen:
			if err := k.tells(c, o, time.Duration(e.Msg.Nonce)); err != nil {
				return err
			}
		}
	}
	return nil
}

// told checks what a member does with a sighting later than its own.
func (k *HearsayChecker) told(c *sim.Cluster, o *sim.Occurrence) error {
	at := k.asked[o.Member].Add(-time.Duration(o.Event.Msg.Nonce))
	if at <= k.seen[o.Member] {
		return nil
	}
	k.seen[o.Member] = at
	if !o.Completes() {
		return nil
	}
	s := Detail(c, o.Member)
	if lap := s.MaxInterval / 3; s.RegenerateArmed && s.RegenerateAt < at.Add(s.RegenerateAfter).Add(lap) {
		return fmt.Errorf("hearsay: %s is told of a token, and makes one %v after that instead of %v, and a lap of %v later",
			sim.MemberName(o.Member), s.RegenerateAt.Sub(at), s.RegenerateAfter, lap)
	}
	return nil
}

// tells checks the sighting that a member names.
func (k *HearsayChecker) tells(c *sim.Cluster, o *sim.Occurrence, age time.Duration) error {
	if o.Completes() && c.Status(o.Member).Holding {
		return nil
	}
	if heard, ok := k.heard[o.Member]; ok && o.Completes() && age > max(o.At.Sub(heard.at), 1) {
		if s := Detail(c, o.Member); s.Guards && s.Guarded == heard.from {
			return fmt.Errorf("hearsay: %s says that it knows of no token in the last %v, and heard its holder %v ago",
				sim.MemberName(o.Member), age, o.At.Sub(heard.at))
		}
	}
	if knows := o.At.Sub(k.seen[o.Member]); age < knows {
		return fmt.Errorf("hearsay: %s says that it saw a token %v ago, and knows of none in the last %v", sim.MemberName(o.Member), age, knows)
	}
	return nil
}
