package wander

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
)

// In a fleet whose network is sound, one operation runs at once. The checker of this rule finds an error if the network
// is parted for good, and none while it is whole.
func TestTheCheckerOfOverlapsObjectsToTwoParts(t *testing.T) {
	s := fleet(6)
	s.Backups = 2
	c := s.NewCluster(NewOverlapChecker(overlapTimeouts * wander.Patience(s.Skip)))
	s.start(c)
	whole := policy.Time(10 * s.lap())
	if err := c.Run(whole); err != nil {
		t.Fatal(err)
	}
	c.Part([]bool{true, true, true, false, false, false}, false)
	if err := c.Run(whole.Add(100*s.lap() + time.Hour)); err == nil || !strings.HasPrefix(err.Error(), "overlap: 2 ") {
		t.Errorf("two parts: %v", err)
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
