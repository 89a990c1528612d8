package call

import (
	"regexp"
	"testing"

	"github.com/wanderd/wanderd/lab/forms"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
)

// What no member sends, no member takes. A handoff and what a heartbeat counts may have any number; a token may be in a
// soak, and in any slot.
func TestWhatNobodySendsIsNotTaken(t *testing.T) {
	d := call.Descriptor()
	counts := d.Kinds.Of(guardian.KindHeartbeat).Name
	unread := regexp.MustCompile("^(Token|Ack|Commit): exchange 0$|^(" + counts + "|Keep|Kept|Heard): nonce 9|" +
		": load 104 1$|^Token: load 64|^(Keep|Kept): slot 1$")
	seen := forms.New()
	watch := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		seen.See(o.Effects)
		return nil
	})
	for _, seed := range mutant.Seeds(60) {
		for _, s := range []Scenario{Draw(seed), DrawCalled(seed), DrawDue(seed)} {
			if err := s.Explore(watch); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
	for _, loose := range seen.Loose(&d, unread) {
		t.Error(loose)
	}
}
