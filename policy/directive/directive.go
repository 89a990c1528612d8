// Package directive has the directives of operators: to pause a gate, and to resume it. Its [Layer] stands between a
// shell and the machine of any protocol, and keeps one rule for all protocols: a member never runs under a directive to
// pause that it knows.
//
// A directive is small, and only the newest one counts. Every message of the gate carries the newest directive that its
// sender knows. So a member that was away learns of it with the token, before it runs. Gossip tells all other members
// soon. The shell receives directives from operators, and knows which operator gave a directive and for what reason.
//
// A paused gate works as if no member had anything to run: the token goes round, a demand waits, and a run that has
// begun ends as usual.
//
//	directive.go the layer between shell and machine
//	newest.go    which directive counts, and when it ends
//	brake.go     failures in a row stop the gate
//	once.go      a success rests the gate for all
//
// Its decisions, in docs/decisions: 013, 014, 101, 106.
package directive

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Layer is the machine of one member together with the directives that the member knows. Shells step the layer; the
// layer steps the machine.
type Layer struct {
	policy.Machine
	self wire.MemberID
	// stopAfter is how many hosts must fail in a row before the gate is paused; zero means never.
	stopAfter int
	// standStill pauses the gate when a host stays away. peers are the live members.
	standStill bool
	peers      []wire.MemberID
	// interval is the time in which the operation succeeds once in the whole fleet; began is when the last run began,
	// by the clock on the wall.
	interval time.Duration
	began    int64

	// directive is the newest directive that this member knows; here is when the pause of this member alone ends.
	directive wire.Directive
	here      int64
	// failures is the newest list of failures that this member knows.
	failures wire.Failures
	// state is what the machine has last saved.
	state policy.State
	// paused is what the machine was last told; until is when the present pause ends.
	paused bool
	until  policy.Time
	// wanted is true while a caller here waits for a run. own is true if the present run is the gate's own operation,
	// and not a caller's.
	wanted, own bool
}

// New returns the layer for a machine that has not been stepped yet. stopAfter is the number of failures in a row on
// different hosts after which it pauses the gate: 1 to [wire.MaxFailures]; zero means never.
func New(m policy.Machine, self wire.MemberID, stopAfter int) *Layer {
	return &Layer{Machine: m, self: self, stopAfter: stopAfter}
}

// Step implements [policy.Machine].
func (l *Layer) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Started {
		l.state, l.directive, l.here, l.paused = ev.State, ev.State.Directive, ev.State.Here, false
		l.own = ev.State.Kept.Holder == l.self && !ev.State.Kept.Demanded // It goes on with that run.
		l.began = now.Wall
		out = l.obey(now, l.give(now, ev, out))
		if l.directive != (wire.Directive{}) {
			out = policy.AppendProclaim(out, l.directive) // The earlier life may have ended before it did that.
		}
		return out
	}
	directive, here := l.directive, l.here
	l.learn(now, ev)
	// The end of a pause comes after the answer of a disk: what the machine saves because of it is not on the disk
	// yet. A message that is not expected changes nothing, so it ends no pause, either; the next wake-up does.
	ends := l.paused && !l.pauses(now.Wall)
	later := ends && ev.Kind == policy.Saved
	if unheard := ends && ev.Kind == policy.Received && !l.Expects(&ev.Msg); !unheard && !later {
		out = l.obey(now, out)
	}
	switch {
	case ev.Kind == policy.Directed:
	case ev.Kind == policy.Finished && ev.ByHand:
		// This is not the run that the machine has planned: the next one comes when it would have come anyway.
		served := *ev
		served.Outcome = policy.Succeeded
		out = l.give(now, &served, out)
	case ev.Kind == policy.Wanted, ev.Kind == policy.Unwanted:
		if l.wanted = ev.Kind == policy.Wanted; !l.paused {
			out = l.give(now, ev, out)
		}
	default:
		out = l.give(now, ev, out)
	}
	if later {
		out = l.obey(now, out)
	}
	if directive != l.directive {
		out = l.obey(now, out) // The machine may have told of a host that stays away.
		if l.directive.Until == 0 && l.interval > 0 {
			out = l.give(now, &policy.Event{Kind: policy.Directed, Paused: l.paused, Directive: l.directive}, out)
		}
	}
	if directive != l.directive || here != l.here {
		l.state.Directive, l.state.Here = l.directive, l.here
		out = policy.AppendSave(out, l.state)
	}
	if directive != l.directive {
		out = policy.AppendProclaim(out, l.directive)
	}
	return out
}

// learn takes directives and failures from an event.
func (l *Layer) learn(now policy.Instant, ev *policy.Event) {
	switch ev.Kind {
	case policy.Received:
		l.listen(now.Wall, &ev.Msg)
	case policy.Directed:
		if ev.Here {
			l.here = ev.Directive.Until
		} else {
			l.hear(now.Wall, ev.Directive)
		}
	case policy.Finished:
		l.count(now.Wall, ev)
		l.restOfInterval(now.Wall, ev)
	case policy.PeersChanged:
		l.peers = ev.Peers
	case policy.Started, policy.Saved, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Renew, policy.Leave, policy.Woke:
	}
}

// pauses reports whether a directive to pause is in force at that time.
func (l *Layer) pauses(wall int64) bool {
	end := max(l.directive.Until, l.here)
	return end != 0 && wall < end
}

// obey tells the machine whether the gate is paused, if that has changed. While it is paused, the machine knows of no
// waiting caller.
func (l *Layer) obey(now policy.Instant, out []policy.Effect) []policy.Effect {
	end, paused := max(l.directive.Until, l.here), l.pauses(now.Wall)
	l.until = policy.Never
	if paused && end != wire.ForEver {
		l.until = now.Time.Add(timeUntil(now.Wall, end))
	}
	if paused == l.paused {
		return out
	}
	l.paused = paused
	if paused && l.wanted {
		out = l.give(now, &policy.Event{Kind: policy.Unwanted}, out)
	}
	out = l.give(now, &policy.Event{Kind: policy.Directed, Paused: paused}, out)
	if !paused && l.wanted {
		out = l.give(now, &policy.Event{Kind: policy.Wanted}, out)
	}
	return out
}

// give steps the machine. The machine's messages and its state get the newest directive. "A member never runs under a
// directive that it knows": a machine that would still run is told that it was too late.
func (l *Layer) give(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	begin, denied := len(out), false
	out = l.Machine.Step(now, ev, out)
	for i := begin; i < len(out); i++ {
		switch e := &out[i]; e.Kind {
		case policy.Save:
			e.State.Directive, e.State.Here = l.directive, l.here
			l.state = e.State
		case policy.Send, policy.PreSign:
			e.Msg.Directive, e.Msg.Failures = l.directive, l.failures
		case policy.Run:
			if denied = l.paused; !denied {
				l.wanted, l.own, l.began = false, !e.Demanded, now.Wall
			}
		case policy.Tell:
			if e.Note == policy.NoteStayedAway {
				l.stayedAway(now.Wall, e.Peer)
			}
		case policy.Extend, policy.Stop, policy.Took, policy.Gave, policy.Announce, policy.Proclaim, policy.Gone:
		}
	}
	if !denied {
		return out
	}
	kept := slices.DeleteFunc(out[begin:], func(e policy.Effect) bool {
		return e.Kind == policy.Run || e.Kind == policy.PreSign
	})
	return l.give(now, &policy.Event{Kind: policy.Finished, Denied: true, Void: true}, out[:begin+len(kept)])
}

// NextWake implements [policy.Machine].
func (l *Layer) NextWake() (policy.Time, bool) {
	at, ok := l.Machine.NextWake()
	if l.paused && l.until < policy.Never && (!ok || l.until < at) {
		return l.until, true
	}
	return at, ok
}

// WhyPaused completes "not running because …".
const WhyPaused = "paused"

// Status implements [policy.Machine].
func (l *Layer) Status(now policy.Time) policy.Status {
	s := l.Machine.Status(now)
	if l.paused {
		s.NextRun = policy.Never
		if s.Phase != "running" {
			s.Why, s.Bar = WhyPaused, policy.BarPaused
		}
	}
	return s
}

// Tune implements [policy.Tunable], if the machine does.
func (l *Layer) Tune(p policy.Protocol) bool {
	t, ok := l.Machine.(policy.Tunable)
	return ok && t.Tune(p)
}
