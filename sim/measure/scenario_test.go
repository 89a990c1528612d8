package measure

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// scenario is an invented run that a test tells a meter. Times are in seconds.
type scenario struct {
	t       *testing.T
	meter   *Meter
	handoff wire.Exchange
	// over are the handoffs whose receivers no longer wait.
	over map[wire.Exchange]bool
}

// Expects reports whether a receiver still waits for a Commit.
func (s *scenario) Expects(_ int, m *wire.Message) bool { return !s.over[m.Exchange] }

func tell(t *testing.T, cfg Config) *scenario {
	t.Helper()
	s := &scenario{t: t, meter: New(cfg), over: map[wire.Exchange]bool{}}
	s.meter.custody.world = s
	for i := range cfg.Members {
		s.occur(0, i, sim.Occurrence{Kind: sim.Came})
	}
	return s
}

func at(seconds float64) policy.Time { return policy.Time(seconds * float64(time.Second)) }

func (s *scenario) occur(when float64, member int, o sim.Occurrence) {
	s.t.Helper()
	o.At, o.Member = at(when), member
	if o.Kind == sim.Stepped && o.Of == 0 {
		o.Of = len(o.Effects)
	}
	if err := s.meter.Watch(nil, &o); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scenario) step(when float64, member int, ev policy.Event, effects ...policy.Effect) {
	s.t.Helper()
	s.occur(when, member, sim.Occurrence{Kind: sim.Stepped, Event: &ev, Effects: effects})
}

func (s *scenario) start(when float64, member int) {
	s.t.Helper()
	s.step(when, member, policy.Event{Kind: policy.Woke}, policy.Effect{Kind: policy.Run})
}

func (s *scenario) finish(when float64, member int) {
	s.t.Helper()
	s.step(when, member, policy.Event{Kind: policy.Finished})
}

func (s *scenario) crash(when float64, member int) {
	s.t.Helper()
	s.occur(when, member, sim.Occurrence{Kind: sim.Crashed})
}

// hands lets a token come to a member, or leave it.
func (s *scenario) hands(when float64, member int, cause policy.Cause, id uint64) {
	s.t.Helper()
	s.step(when, member, policy.Event{Kind: policy.Woke}, changing(cause, wire.MemberID{}, token(id)))
}

// pass lets a member give a token up. Its Commit is then on its way.
func (s *scenario) pass(when float64, from, to int, id uint64) {
	s.t.Helper()
	s.handoff++
	s.step(when, from, s.received(handoff.KindAck, to, from, id),
		changing(policy.CausePassed, member(to), token(id)),
		policy.Effect{Kind: policy.Send, Msg: s.received(handoff.KindCommit, from, to, id).Msg})
}

// arrive lets the Commit that was sent last come to a member, which takes the token, and perhaps gives it up again.
func (s *scenario) arrive(when float64, from, to int, id uint64, more ...policy.Cause) {
	s.t.Helper()
	effects := []policy.Effect{changing(policy.CauseReceived, member(from), token(id))}
	for _, cause := range more {
		effects = append(effects, changing(cause, wire.MemberID{}, token(id)))
	}
	s.over[s.handoff] = true
	s.step(when, to, s.received(handoff.KindCommit, from, to, id), effects...)
}

// waitsNoLonger wakes the member to which a token is on its way. The member no longer waits.
func (s *scenario) waitsNoLonger(when float64, member int) {
	s.t.Helper()
	s.over[s.handoff] = true
	s.step(when, member, policy.Event{Kind: policy.Woke})
}

// received returns a message of the handoff that began last.
func (s *scenario) received(kind wire.Kind, from, to int, id uint64) policy.Event {
	return policy.Event{Kind: policy.Received, Msg: wire.Message{
		Kind: kind, From: member(from), To: member(to), Exchange: s.handoff, Token: token(id),
	}}
}

// changing returns the effect that tells how a token comes or goes.
func changing(cause policy.Cause, peer wire.MemberID, token wire.Ref) policy.Effect {
	kind := policy.Gave
	if cause <= policy.CauseRevived {
		kind = policy.Took
	}
	return policy.Effect{Kind: kind, Cause: cause, Peer: peer, Token: token}
}

func member(i int) wire.MemberID { return wire.MemberID{15: byte(i)} }

func token(id uint64) wire.Ref { return wire.Ref{ID: wire.TokenID{Random: id}, Seq: 1} }
