package ring

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
)

func TestStatusSaysHowManyMembersKeepACopyOfTheToken(t *testing.T) {
	cfg := configOf(Always, rosterOf(4), 0)
	cfg.Backups = 2
	if facts := New(cfg).Facts(0, nil); !slices.Contains(facts, policy.Fact{Key: policy.KeyBackups, Count: 2}) {
		t.Errorf("it says %+v", facts)
	}
}
