package membership

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
)

func TestOtherAddressesToJoinAreTriedAndTheOldOnesNoMore(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		late := f.start(2, func(c *Config) { c.Join = []string{"10.0.0.9"} })
		seed := f.start(1, func(c *Config) { c.Join = nil })
		time.Sleep(time.Minute)
		if refused := late.Refusals(); len(refused) != 1 || late.list.NumMembers() != 1 {
			t.Fatalf("it sees %d members, and cannot join %+v", late.list.NumMembers(), refused)
		}
		if err := late.SetJoin([]string{"10.0.0.1"}); err != nil {
			t.Fatal(err)
		}
		f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, seed}, 1, 2))
		if refused := late.Refusals(); len(refused) != 0 {
			t.Errorf("it still cannot join %+v", refused)
		}
	})
}

func TestAWrongAddressToJoinChangesNothing(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		late := f.start(2)
		if err := late.SetJoin([]string{"10.0.0.9", "a:b:c"}); err == nil {
			t.Error("it takes a:b:c")
		}
		f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, f.start(1)}, 1, 2))
	})
}
