package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// suspicion is the token of a guardian's last question.
type suspicion struct {
	token wire.Ref
	trail guardian.Trail
}

// guard counts the cases of guardians.
func (v *Coverage) guard(c *sim.Cluster, o *sim.Occurrence) {
	if o.Event.Kind == policy.Received && !handoff.Owns(o.Event.Msg.Kind) && o.Expected {
		v.word(c, o)
	}
	if o.Due {
		v.guardWake(o)
	}
	for e := range o.Did(policy.Tell) {
		v.guardNote(c, o, e)
	}
}

// word counts what became of expected messages between holder and guardians.
func (v *Coverage) word(c *sim.Cluster, o *sim.Occurrence) {
	m, self := &o.Event.Msg, c.ID(o.Member)
	first := &policy.Effect{}
	if len(o.Effects) > 0 {
		first = &o.Effects[0]
	}
	trail := guardian.TrailOf(&m.Load)
	answered := m.Exchange != 0 && m.Kind != guardian.KindAsk
	switch {
	case m.Kind == guardian.KindHeartbeat && first.Kind == 0 && trail.Has(self) &&
		c.Status(o.Member).Token.ID != m.Token.ID:
		v.count("case a guardian that never held it")
	case m.Kind == guardian.KindHeartbeat && first.Kind == policy.Send:
		v.count("case a holder is corrected")
	case m.Kind == guardian.KindKnown && m.Exchange == 0 && first.Kind == 0:
		v.count("case a guardian is released")
	case m.Kind == guardian.KindHeard && first.Kind == 0 && v.calmed(o):
		v.count("case a guardian calms another")
	case answered && first.Kind == policy.Send && first.Msg.Kind == guardian.KindHeartbeat:
		v.count("case a holder is sure again")
	}
}

// calmed reports whether an answer has put a guardian off: it brings no new number, but another guardian has heard the
// holder within the patience.
func (v *Coverage) calmed(o *sim.Occurrence) bool {
	m := &o.Event.Msg
	asked, ok := v.suspicions[o.Member]
	return ok && m.Token.Seq <= asked.token.Seq && time.Duration(m.Nonce) < v.patience
}

// guardWake counts the timers of holders, guardians, and members that ask before they make a token.
func (v *Coverage) guardWake(o *sim.Occurrence) {
	asks := false
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Send && e.Msg.Kind == guardian.KindHeartbeat && i == 0:
			v.count("timer beat")
		case e.Kind == policy.Send && e.Msg.Kind == guardian.KindAsk && !asks:
			asks = true
			v.count("timer Ask is repeated")
		case e.Kind == policy.Send && e.Msg.Kind == wander.KindInquiry && !asks:
			asks = true
			v.count("timer Inquiry is repeated")
		case e.Kind != policy.Tell:
		case e.Note == guardian.NoteSuspected || e.Note == guardian.NoteDoubting || e.Note == guardian.NoteUnanswered ||
			e.Note == wander.NoteInquired:
			asks = true
		case e.Note == wander.NoteRevived:
			v.count("timer no answer came")
		}
	}
}

func (v *Coverage) guardNote(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) {
	switch {
	case e.Note == guardian.NoteSuspected:
		if v.suspicions == nil {
			v.suspicions = map[int]suspicion{}
		}
		v.suspicions[o.Member] = suspicion{token: e.Token, trail: asks(o, e.Token.ID)}
	case e.Note == guardian.NoteDoubting || e.Note == guardian.NoteUnanswered:
		delete(v.suspicions, o.Member)
	case e.Note == wander.NoteRevived:
		v.revived(c, o)
	case e.Note == handoff.NoteNoCommit && o.Event.Kind == policy.Received && o.Event.Msg.Kind == guardian.KindAsk:
		v.count("case a handoff ends with an Ask")
	case e.Note == wander.NoteOvertaken && o.Completes() && c.Status(o.Member).Why == wander.WhyRunning:
		v.when(o.Does(policy.Stop), "case an overtaken run is stopped")
		v.when(!o.Does(policy.Stop), "case an overtaken run finishes")
	}
}

// revived counts the rank of a guardian that revives a token, the reason, and the token that it meets.
func (v *Coverage) revived(c *sim.Cluster, o *sim.Occurrence) {
	asked := v.suspicions[o.Member]
	rank, _ := asked.trail.Rank(c.ID(o.Member))
	v.when(rank > 0, "case revived by a higher rank")
	v.when(o.On(policy.Received), "case revived when all had answered")
	for e := range o.Did(policy.Tell) {
		v.when(e.Note == wander.NoteMet, "case revived where one is held")
		v.when(e.Note == wander.NoteRemoved, "case revived, and removed")
	}
}
