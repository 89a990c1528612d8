package wander

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Members that object in turns, however many, hold the others back for a bounded part of the time.
func TestMembersThatObjectInTurnsStopNobody(t *testing.T) {
	beside := func(objectors int) (ran int) {
		s := fleet(20)
		s.Backups, s.AskBeforeRun = 2, true
		c := s.NewCluster(sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
			if o.Member < objectors {
				return nil
			}
			for range o.Did(policy.Run) {
				ran++
			}
			return nil
		}))
		s.start(c)
		c.Intercept(func(m *wire.Message) sim.Fate {
			turn := int(c.Now()/policy.Time(s.Op)) % max(objectors, 1)
			if m.Kind == wander.KindIntent && sim.IndexOf(m.To) == turn && turn < objectors {
				objection := *m
				objection.Kind, objection.From, objection.To = wander.KindObjection, m.To, m.From
				c.After(0, func() { c.Inject(objection) })
			}
			return sim.Fate{}
		})
		if err := c.Run(policy.Time(s.Duration)); err != nil {
			t.Fatal(err)
		}
		return ran / (s.Members - objectors)
	}
	undisturbed := beside(0)
	for objectors := 1; objectors <= 8; objectors++ {
		ran := beside(objectors)
		t.Logf("%d runs of each other member beside %d that object, %d beside none", ran, objectors, undisturbed)
		if ran < undisturbed*2/3 {
			t.Error("that is too few")
		}
	}
}
