package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Once its operation is over, a host may soak: nobody is to start before that is over. Meanwhile its agent renews the
// lease as in a run, and says how much of the soak is left. If it dies, its lease is over soon; those that have heard
// it promise no newer epoch before the soak is over:
//
//	holder                         supporter
//	  ── Renew(soaks, 10 min) ──▶    an ordinary lease, and no newer epoch for 10 min
//	    ◀──────────── Renewed ──
//	  ── Renew(soaks, 8 min) ───▶    … for 8 min
//	  ✗                              promises no newer epoch for 8 min
//
// An ordinary renewal ends that early, also one of the next holder in the same epoch, and so does a Release. No holder
// relies on it, so safety does not rest on it: it is not on the disks, and who restarts has forgotten it. Nobody waits
// for longer than a soak may take by its own settings, whatever a message says.

// Soaks begins the soak of the holder's host, and tells the others. A kept grant outlives the host anyway.
func (b *Machine) Soaks(now policy.Time, takes time.Duration, end *Outcome, out []policy.Effect) []policy.Effect {
	h := &b.holder
	if !h.holds || h.keeps || b.cfg.Soak == 0 {
		return out
	}
	b.cfg.Marks.Hit(markSoaks)
	h.soakUntil = now.Add(min(takes, b.cfg.Soak))
	return b.renewNow(now, end, out)
}

// EndSoak ends it. If that is early, the others are told.
func (b *Machine) EndSoak(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	h := &b.holder
	early := b.Soaking(now)
	if h.soakUntil = 0; !early {
		return out
	}
	b.cfg.Marks.Hit(markSoakEarly)
	return b.renewNow(now, end, out)
}

// Soaking reports whether this host soaks while it holds the token.
func (b *Machine) Soaking(now policy.Time) bool { return b.holder.holds && now < b.holder.soakUntil }

// renewNow renews the lease at once, if the last renewal had enough answers.
func (b *Machine) renewNow(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	if b.round.kind == KindRenew && b.round.won {
		return b.renew(now, end, out)
	}
	return out
}

// judgeSoak takes note of what a question that is supported says of a soak. Within an epoch the hops order that: a late
// renewal of an earlier run says nothing.
func (b *Machine) judgeSoak(now policy.Time, q *question) {
	s := &b.supporter
	switch {
	case q.kind == KindRenew && q.asks == probes, q.token.Seq < s.soakAt:
	case q.asks == soaks:
		b.cfg.Marks.Hit(markSoakHeard)
		s.soakUntil, s.soakAt = now.Add(min(q.soak, b.cfg.Soak)), q.token.Seq
	default:
		s.soakUntil = 0
	}
}

// SoakUntil is until when this member promises no newer epoch because the host of a holder soaks.
func (b *Machine) SoakUntil() policy.Time { return b.supporter.soakUntil }

// Tune takes another bound for soaks.
func (b *Machine) Tune(soak time.Duration) { b.cfg.Soak = soak }
