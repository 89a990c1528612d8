package wander

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Up to four members that object in turns delay each of the others by the durations of their operations, once in an
// interval.
func TestFourMembersThatObjectInTurnsStopNobody(t *testing.T) {
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
		questions := map[wire.MemberID]map[wire.Exchange]bool{}
		c.Intercept(func(m *wire.Message) sim.Fate {
			if m.Kind != wander.KindIntent || objectors == 0 {
				return sim.Fate{}
			}
			asked := questions[m.From]
			if asked == nil {
				asked = map[wire.Exchange]bool{}
				questions[m.From] = asked
			}
			asked[m.Exchange] = true
			if sim.IndexOf(m.To) == len(asked)%objectors {
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
	for objectors := 1; objectors <= 4; objectors++ {
		ran := beside(objectors)
		t.Logf("%d runs of each other member beside %d that object, %d beside none", ran, objectors, undisturbed)
		if ran < undisturbed*2/3 {
			t.Error("that is too few")
		}
	}
}
