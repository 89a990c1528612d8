package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// At each step of a change of the secret, members that have taken it and members that have not take part together.
func TestTheKeyOfGossipChangesInSteps(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		for _, step := range [][][]byte{{secretOne, secretTwo}, {secretTwo, secretOne}, {secretTwo}} {
			for i, h := range hosts {
				if err := h.Rekey(peertest.SecretsOf(step...)); err != nil {
					t.Fatal(err)
				}
				f.always(20*time.Second, "everybody is there", allSee(hosts, 1, 2, 3))
				if len(step) == 2 && step[0][0] == secretTwo[0] {
					var want []wire.MemberID
					for j := i + 2; j <= len(hosts); j++ {
						want = append(want, wire.MemberIDOf(peertest.KeyOf(j)))
					}
					slices.SortFunc(want, wire.MemberID.Compare)
					if got := hosts[0].Others(); !slices.Equal(got, want) {
						t.Errorf("after %d: %v seal with the other key, want %v", i+1, got, want)
					}
				}
			}
		}
		if s := hosts[0].Stats(); s.Foreign != 0 {
			t.Errorf("counted %+v", s)
		}
		late := f.start(4, func(c *Config) { c.Secrets = peertest.SecretsOf(secretTwo, secretOne) })
		f.within(5*time.Second, "a newcomer joins", allSee(append(hosts, late), 1, 2, 3, 4))
		if err := hosts[0].Rekey(nil); err == nil {
			t.Error("gossip goes on in the clear")
		}
	})
}
