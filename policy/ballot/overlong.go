package ballot

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// All members of a roster are to have the same lease, and the same keep. While an operator changes one of these from
// host to host, or has forgotten a host, they differ. A supporter gives no longer lease than its own: after a loss of
// its state, its quarantine would be too short. It refuses a longer one, and says how long one may be.
//
// A member whose lease too many refuse for that can neither win an epoch nor renew a lease. For a lease it does as if
// it did not want to run: it passes the token on, and lets others propose. Then it tries again.

// overlong is what this member knows of those that refuse its lease because of its length.
type overlong struct {
	// by are the members that have refused since they last supported this one.
	by ranks
	// asked is the lease that was refused last, or the keep if it was to be kept; allowed is the longest one that the
	// member allows that allows least.
	asked, allowed time.Duration
	keeps          bool
	// until is until when this member does as if it did not want to run.
	until policy.Time
}

// isBlocked reports whether the members left are no majority.
func (o *overlong) isBlocked(roster *Roster) bool { return roster.Len()-o.by.len() < roster.Majority() }

// Overlong returns until when this member does as if it did not want to run, because its lease is longer than a
// majority allows. It may be over.
func (b *Machine) Overlong() policy.Time { return b.overlong.until }

// refuseOverlong answers a question that asks for too long a lease.
func (b *Machine) refuseOverlong(now policy.Time, q *question, out []policy.Effect) []policy.Effect {
	out = b.refuse(now, q, out)
	setAllowed(&out[len(out)-1].Msg.Load, b.mostLease(q.asks))
	return out
}

// setAllowed writes the longest lease that the sender of a Refused allows; 1 ns is none.
func setAllowed(to *wire.Load, allowed time.Duration) {
	binary.BigEndian.PutUint64(to[copyAt:], uint64(max(allowed, 1)))
}

// allowedOf returns the longest lease that the sender of a Refused allows, or zero if it has not refused because of
// that.
func allowedOf(from *wire.Load) time.Duration {
	return time.Duration(binary.BigEndian.Uint64(from[copyAt:]))
}

// refusedAsOverlong counts a member that refuses because of the length of the lease. An answer that does not say that
// it allows less than this member asks for says nothing.
func (b *Machine) refusedAsOverlong(now policy.Time, rank int, allowed time.Duration, out []policy.Effect,
) []policy.Effect {
	o, r := &b.overlong, &b.round
	asked := b.leaseOf(r.asks)
	if allowed <= 0 || allowed >= asked {
		return out
	}
	if o.by.len() == 0 || o.asked != asked || allowed < o.allowed {
		o.asked, o.allowed, o.keeps = asked, allowed, r.asks == keeps
	}
	o.by.add(rank)
	if !o.isBlocked(b.cfg.Roster) || now < o.until {
		return out
	}
	b.cfg.Marks.Hit(markOverlong)
	o.until = now.Add(b.cfg.Lease)
	return policy.AppendTell(out, NoteLeaseRefused, b.id(rank), &r.token)
}

// text names those that refuse, and what they allow.
func (o *overlong) text(roster *Roster) string {
	var names []string
	for rank := range roster.Len() {
		if o.by.has(rank) {
			names = append(names, roster.Name(rank))
		}
	}
	what := "lease"
	if o.keeps {
		what = "keep"
	}
	return fmt.Sprintf("%s = %v is longer than allowed by %s: %v", what, o.asked, strings.Join(names, ", "),
		o.allowed.Truncate(time.Millisecond))
}
