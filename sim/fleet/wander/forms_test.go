package wander

import (
	"regexp"
	"testing"

	"github.com/wanderd/wanderd/lab/forms"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// What no member sends, no member takes. A handoff, what a heartbeat counts and times may have any number; who asks
// sends its whole token; and a guardian answers whatever a Yield was about.
func TestWhatNobodySendsIsNotTaken(t *testing.T) {
	d := wander.Descriptor()
	counts := d.Kinds.Of(guardian.KindHeartbeat).Name
	unread := regexp.MustCompile("^(Token|Ack|Commit): exchange 0$|^(" + counts + "|Heard|Seen): nonce 9|" +
		"^(Ack|Commit): slot 9|^(Intent|Consent|Objection): load|^Yield: exchange")
	seen := forms.New()
	watch := sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		seen.See(o.Effects)
		return nil
	})
	for _, seed := range mutant.Seeds(60) {
		s := Draw(seed)
		if o := s.Explore(watch); o.Err != nil {
			t.Fatalf("seed %d: %v", seed, o.Err)
		}
	}
	for _, loose := range seen.Loose(&d, unread) {
		t.Error(loose)
	}
}
