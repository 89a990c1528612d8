package call

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
)

// notes counts what members tell.
type notes map[policy.Note]int

// Watch implements [sim.Watcher].
func (n notes) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for e := range o.Did(policy.Tell) {
		n[e.Note]++
	}
	return nil
}

// One or two members are further away than the others, by up to 2.2 patiences for a round trip. No token is taken for
// lost, none is made twice, and nobody waits for long; at rest nothing is sent.
func TestADistantMemberIsServedAndLosesNoToken(t *testing.T) {
	for _, n := range []sim.Network{
		{Distant: 1, Away: 500 * time.Millisecond},
		{Distant: 1, Away: 1100 * time.Millisecond},
		{Distant: 2, Away: 1100 * time.Millisecond, Together: true},
		{Distant: 2, Away: 1100 * time.Millisecond},
	} {
		for _, load := range []float64{0.1, 1} {
			name := fmt.Sprintf("%d away %v, together %v, load %v", n.Distant, n.Away, n.Together, load)
			t.Run(name, func(t *testing.T) { serveDistant(t, n, load) })
		}
	}
}

func serveDistant(t *testing.T, n sim.Network, load float64) {
	t.Helper()
	s, m, told := idle(10, load), &Meter{}, notes{}
	s.Network.Distant, s.Network.Away, s.Network.Together = n.Distant, n.Away, n.Together
	c := s.NewCluster(m, told, newOverlapChecker())
	s.start(c)
	run := func(d time.Duration) {
		if err := c.Run(c.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	run(2 * time.Hour)
	longest := m.Quantile(1)
	t.Logf("%d runs, median %v, 99th percentile %v, longest %v, %.0f datagrams a run; %d failed offers", m.Runs,
		m.Quantile(0.5), m.Quantile(0.99), longest, float64(m.Sent)/float64(m.Runs), told[handoff.NoteNoAck])
	if made := told[call.NoteCreated] + told[call.NoteRegenerated]; told[call.NoteRevived] > 0 || made > 1 {
		t.Errorf("%d tokens are made, and %d are revived", made, told[call.NoteRevived])
	}
	if longest > 2*time.Minute {
		t.Error("somebody waits for long")
	}
	c.EndDemand()
	run(10 * time.Minute)
	m.Reset()
	if run(time.Hour); m.Sent > 0 {
		t.Errorf("%d datagrams are sent at rest", m.Sent)
	}
}
