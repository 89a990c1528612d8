package wander

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// tally counts what each member does.
type tally struct {
	runs    []int
	lastRun []policy.Time
	longest time.Duration
	sent    int
	notes   map[policy.Note]int
}

func newTally(members int) *tally {
	return &tally{runs: make([]int, members), lastRun: make([]policy.Time, members), notes: map[policy.Note]int{}}
}

func (k *tally) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for i := range o.Effects {
		switch e := &o.Effects[i]; e.Kind {
		case policy.Run:
			if k.runs[o.Member]++; k.runs[o.Member] > 1 {
				k.longest = max(k.longest, o.At.Sub(k.lastRun[o.Member]))
			}
			k.lastRun[o.Member] = o.At
		case policy.Send:
			k.sent++
		case policy.Tell:
			k.notes[e.Note]++
		case policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce,
			policy.Gone, policy.Proclaim:
		}
	}
	return nil
}

// live runs a fleet for a given time, with every checker.
func live(t *testing.T, s *Scenario, prepare func(*sim.Cluster, *tally)) *tally {
	t.Helper()
	k := newTally(s.Members)
	c := s.NewCluster(append(s.Checkers(), k)...)
	s.start(c)
	prepare(c, k)
	if err := c.Run(c.Now().Add(s.Duration)); err != nil {
		t.Fatal(err)
	}
	return k
}

func slowFleet(members int, latency, jitter time.Duration) *Scenario {
	return &Scenario{
		Seed: 1, Members: members, TokenInPlace: true, Skip: 250 * time.Millisecond, Op: 2 * time.Second,
		MinInterval: time.Minute,
		Walk:        wander.Sweep, Backups: 2, Network: sim.Network{Latency: latency, Jitter: jitter},
		Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook: sim.Hook{Takes: 2 * time.Second}, Duration: time.Hour,
	}
}

// A fleet whose round trips take several skips works: every member runs, a lap apart at most, and no token is lost.
// When the first token goes round, its guardians do not know yet how long answers take. After that, no guardian revives
// a token because answers take long.
func TestAFleetWorksWhereRoundTripsTakeSeveralSkips(t *testing.T) {
	for _, tc := range []struct {
		members         int
		latency, jitter time.Duration
	}{
		{2, 130 * time.Millisecond, 0},
		{20, 130 * time.Millisecond, 0},
		{20, 250 * time.Millisecond, 100 * time.Millisecond},
		{2, 500 * time.Millisecond, 250 * time.Millisecond},
		{20, 500 * time.Millisecond, 250 * time.Millisecond},
		{20, 750 * time.Millisecond, 375 * time.Millisecond},
	} {
		t.Run(fmt.Sprintf("%d members, latency %v, jitter %v", tc.members, tc.latency, tc.jitter), func(t *testing.T) {
			if tc.members > 2 && tc.latency != 250*time.Millisecond {
				deep.Only(t, "hours of a fleet")
			}
			s := slowFleet(tc.members, tc.latency, tc.jitter)
			k := live(t, s, func(c *sim.Cluster, k *tally) {
				c.After(5*time.Minute, k.forget)
			})
			// A handoff takes a round trip and a half, and jitter makes it longer.
			lap := time.Duration(tc.members) * (s.Op + s.Skip + 4*(tc.latency+tc.jitter))
			if most := s.MinInterval + lap; k.longest > most {
				t.Errorf("a member waited for %v, want at most %v", k.longest, most)
			}
			for i, n := range k.runs {
				if want := int((s.Duration - 5*time.Minute) / (s.MinInterval + lap)); n < want {
					t.Errorf("%s ran %d times, want at least %d", sim.MemberName(i), n, want)
				}
			}
			for _, n := range []policy.Note{
				wander.NoteRevived, wander.NoteRegenerated, wander.NoteRemoved, wander.NoteOvertaken,
			} {
				if k.notes[n] > 0 {
					t.Errorf("%s: %d times", wander.Descriptor().Notes.Of(n).Name, k.notes[n])
				}
			}
			if tc.latency > s.Skip/2 && k.notes[handoff.NoteSlowNetwork] == 0 {
				t.Error("nobody says that skip is too short")
			}
		})
	}
}

// forget forgets what was counted before.
func (k *tally) forget() { *k = *newTally(len(k.runs)) }

// blocked is a fleet whose views are complete, and between whose members some datagrams never arrive.
func blocked(members int) *Scenario {
	s := slowFleet(members, time.Millisecond, 0)
	s.Skip, s.MinInterval, s.Duration = time.Second, 10*time.Minute, 24*time.Hour
	return s
}

// Where no datagram arrives at all, a holder that hears nobody yields its token, which may be alive elsewhere. Each
// member makes a token again after max_interval, half an hour, and runs under it. The members send little.
func TestWhereNoDatagramArrivesEveryMemberRuns(t *testing.T) {
	for _, members := range []int{2, 3, 5} {
		t.Run(fmt.Sprintf("%d members", members), func(t *testing.T) {
			s := blocked(members)
			k := live(t, s, func(c *sim.Cluster, _ *tally) { c.SetNetwork(sim.Network{Loss: 1}) })
			for i, n := range k.runs {
				if want := int(s.Duration/(3*s.MinInterval)) - 2; n < want {
					t.Errorf("%s ran %d times, want at least %d", sim.MemberName(i), n, want)
				}
			}
			if most := 3*s.MinInterval + 20*s.Skip; k.longest > most {
				t.Errorf("one that is due waited for %v, want at most %v", k.longest, most)
			}
			checkBounded(t, k, s)
		})
	}
}

// Where one direction is broken, at least one of the two members runs, min_interval apart.
func TestWhereOneDirectionIsBrokenSomebodyRuns(t *testing.T) {
	s := blocked(2)
	k := live(t, s, func(c *sim.Cluster, _ *tally) { c.Part([]bool{true, false}, true) })
	if most, want := max(k.runs[0], k.runs[1]), int(s.Duration/s.MinInterval)-6; most < want {
		t.Errorf("they ran %v times, want at least %d", k.runs, want)
	}
	checkBounded(t, k, s)
}

// checkBounded checks that a member sends no more than a holder must: heartbeats to its guardians, four in a skip, and
// fewer than three Tokens; and as much again for the questions of members that hear nothing.
func checkBounded(t *testing.T, k *tally, s *Scenario) {
	t.Helper()
	most := s.Members * int(s.Duration/s.Skip) * 2 * (4*s.Backups + 3)
	if k.sent > most {
		t.Errorf("%d datagrams in %v, want at most %d", k.sent, s.Duration, most)
	}
	t.Logf("runs %v, %.1f datagrams a second", k.runs, float64(k.sent)/s.Duration.Seconds())
}
