package ballot_test

import (
	"fmt"
	"testing"
	"time"
)

// distantPlan is a roster of five without faults, the last of which is further away than the others: a round trip to it takes several patiences.
func distantPlan(kind gateKind, seed uint64, away time.Duration) plan {
	p := plan{
		kind: kind, seed: seed, members: 5, lease: 8 * time.Second, killAfter: time.Second, margin: 100 * time.Millisecond,
		patience: 200 * time.Millisecond, drift: 0.01, wantEvery: 10 * time.Second, runFor: 100 * time.Millisecond, latency: time.Millisecond,
		jitter: time.Millisecond, saveFor: 5 * time.Millisecond, startsAfter: 100 * time.Millisecond, faultsFor: 10 * time.Minute,
	}
	far := p.members - 1
	for i := range far {
		p.far[far][i], p.far[i][far] = away, away
	}
	return p
}

// longestWaits lets a world live, and returns how long each member has waited at most for a run that it has wanted since the others knew it.
func longestWaits(t *testing.T, p plan, known time.Duration) (longest []time.Duration) {
	t.Helper()
	w := newWorld(p, shell{})
	longest = make([]time.Duration, p.members)
	for w.now < int64(p.faultsFor) {
		if err := w.until(w.now + 50*ms); err != nil {
			t.Fatal(err)
		}
		for i, since := range w.check.waits {
			if since > int64(known) {
				longest[i] = max(longest[i], time.Duration(w.now-since))
			}
		}
	}
	t.Logf("longest waits %v, %d runs, %d messages", longest, w.starts, w.sends)
	return longest
}

// Whoever wants a run gets it, the distant member and the others, in a few round trips. It takes minutes until all know how far away it is: each member
// that passes the token to it for the first time tries several times.
func TestOneDistantMemberDoesNotHoldUpAStrictGate(t *testing.T) {
	const away, known, bound = 550 * time.Millisecond, 3 * time.Minute, 20 * 2 * 550 * time.Millisecond
	for _, kind := range []gateKind{tree, always, martin, q, d} {
		for seed := uint64(1); seed <= 5; seed++ {
			t.Run(fmt.Sprintf("%s, seed %d", gateKinds()[kind], seed), func(t *testing.T) {
				for i, waited := range longestWaits(t, distantPlan(kind, seed, away), known) {
					if waited > bound {
						t.Errorf("member %d waits for %v", i, waited)
					}
				}
			})
		}
	}
}
