package wander

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// In a fleet whose network is sound, one operation runs at once. The checker of this rule finds an error if no message
// gets from one half to the other, and nothing says so; none while the network is whole; and none if it is parted or
// loses messages, as the checker sees.
func TestTheCheckerOfOverlapsObjectsToTwoHalves(t *testing.T) {
	half := func(i int) bool { return i < 3 }
	for what, arrange := range map[string]func(*sim.Cluster){
		"cut links": func(c *sim.Cluster) {
			for i := range c.Members() {
				for j := range c.Members() {
					if half(i) != half(j) {
						c.CutLink(i, j)
					}
				}
			}
		},
		"parted": func(c *sim.Cluster) { c.Part([]bool{true, true, true, false, false, false}, false) },
		"lossy":  func(c *sim.Cluster) { c.SetNetwork(sim.Network{Loss: 1}) },
	} {
		s := fleet(6)
		s.Backups = 2
		c := s.NewCluster(NewOverlapChecker(overlapTimeouts * wander.Patience(s.Skip)))
		s.start(c)
		whole := policy.Time(10 * s.lap())
		if err := c.Run(whole); err != nil {
			t.Fatal(err)
		}
		arrange(c)
		err := c.Run(whole.Add(100*s.lap() + time.Hour))
		if what != "cut links" && err != nil || what == "cut links" && (err == nil || !strings.HasPrefix(err.Error(),
			"overlap: 2 ")) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Some seeds of a short hunt have a sound network and members that fail.
func TestSomeFleetsAreJudgedByTheirOverlaps(t *testing.T) {
	judged := 0
	for seed := uint64(1); seed <= 700; seed++ {
		s := Draw(seed)
		f := s.Faults
		fails := f.CrashEvery > 0 || f.PauseEvery > 0 || f.LeaveEvery > 0 || f.LoseTokenEvery > 0
		if s.Backups > 0 && s.Slots <= 1 && s.isSound() && fails {
			judged++
		}
	}
	t.Logf("%d of 700", judged)
	if judged == 0 {
		t.Errorf("%d of 700 seeds", judged)
	}
}
