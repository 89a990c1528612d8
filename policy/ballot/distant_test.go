package ballot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// distantPlan is a roster of five without faults, the last of which is further away than the others: a round trip to it
// takes several patiences.
func distantPlan(kind gateKind, seed uint64, away time.Duration) plan {
	p := plan{
		kind: kind, seed: seed, members: 5, lease: 8 * time.Second, killAfter: time.Second,
		margin:   100 * time.Millisecond,
		patience: 200 * time.Millisecond, drift: 0.01, wantEvery: 10 * time.Second, runFor: 100 * time.Millisecond,
		latency: time.Millisecond,
		jitter:  time.Millisecond, saveFor: 5 * time.Millisecond, startsAfter: 100 * time.Millisecond,
		faultsFor: 10 * time.Minute,
	}
	far := p.members - 1
	for i := range far {
		p.far[far][i], p.far[i][far] = away, away
	}
	return p
}

// longestWaits lets a world live, and returns for each member the longest time it waited for a run: first for runs that
// it wanted before the others knew it, then for the others.
func longestWaits(t *testing.T, p plan, known time.Duration) (first, later []time.Duration) {
	t.Helper()
	w := newWorld(p, shell{})
	first, later = make([]time.Duration, p.members), make([]time.Duration, p.members)
	for w.now < int64(p.faultsFor) {
		if err := w.until(w.now + 50*ms); err != nil {
			t.Fatal(err)
		}
		for i, since := range w.check.waits {
			longest := later
			if since <= int64(known) {
				longest = first
			}
			if since > 0 {
				longest[i] = max(longest[i], time.Duration(w.now-since))
			}
		}
	}
	t.Logf("longest waits %v, then %v, %d runs, %d messages", first, later, w.starts, w.sends)
	return first, later
}

// A member that wants a run gets it in a few round trips, whether it is the distant one or not. It takes minutes until
// all members know how far away that one is: each member that passes the token to it for the first time tries several
// times, and in a tree the distant member also has to find its place in the queue. Until then it waits in a tree for 39
// s in half of 120 fleets, for 78 s at most in nine of ten, and once for 173 s; in a ring for half a minute, as the
// others do.
func TestOneDistantMemberDoesNotHoldUpAStrictGate(t *testing.T) {
	const (
		away  = 550 * time.Millisecond
		known = 3 * time.Minute
		trips = 2 * away
		bound = 30 * trips
		// untilKnown bounds the waits until then; inTree bounds that of the distant member of a tree.
		untilKnown, inTree = 30 * trips, 160 * trips
	)
	for _, kind := range []gateKind{tree, always, martin, q, d} {
		for seed := uint64(1); seed <= 20; seed++ {
			t.Run(fmt.Sprintf("%s, seed %d", gateKinds()[kind], seed), func(t *testing.T) {
				p := distantPlan(kind, seed, away)
				first, later := longestWaits(t, p, known)
				for i := range p.members {
					least := untilKnown
					if kind == tree && i == p.members-1 {
						least = inTree
					}
					if first[i] > least || later[i] > bound {
						t.Errorf("member %d waits for %v before the others know it, and then for %v", i, first[i],
							later[i])
					}
				}
			})
		}
	}
}

// A status names how far away the furthest member is if that is further than a strict gate expects, and which lease
// that distance needs if the gate's is shorter. In this world: where a member hears an answer late, it takes the others
// to be up to twice as far away.
func TestAStatusNamesADistanceThatIsTooLongForItsLease(t *testing.T) {
	const away = 550 * time.Millisecond
	for _, c := range []struct {
		away, lease, least time.Duration
	}{
		{0, 4 * time.Second, 0},
		{away, 8 * time.Second, 0},
		{away, 4 * time.Second, 4500 * time.Millisecond},
	} {
		p := distantPlan(tree, 4, c.away)
		p.lease = c.lease
		w := newWorld(p, shell{})
		if err := w.until(int64(p.faultsFor)); err != nil {
			t.Fatal(err)
		}
		said := map[policy.Key]policy.Fact{}
		for _, f := range w.hosts[0].g.Facts(policy.Time(w.now), nil) {
			said[f.Key] = f
		}
		trip, least := said[policy.KeyRoundTrip], said[policy.KeyLeastLease].For
		if far := trip.For >= 2*c.away && trip.Text != ""; far != (c.away > 0) {
			t.Errorf("%v away: %+v", c.away, trip)
		}
		if least < c.least || least > c.least+c.least/2 {
			t.Errorf("%v away, and a lease of %v: it should be %v, not %v", c.away, c.lease, c.least, least)
		}
	}
}
