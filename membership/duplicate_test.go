package membership

import (
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

func TestAgentWithACopiedKeyIsReportedWithBothAddresses(t *testing.T) {
	for name, called := range map[string]string{"same name": "host2", "another name": "clone"} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				hosts := f.startAll(3)
				f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
				clone := f.start(2, func(c *Config) { c.Name, c.Addr = called, peertest.AddrOf(22) })
				f.within(time.Minute, "the clone says so", func() bool {
					return len(clone.logs.With("error", "10.0.0.22:7946", "10.0.0.2:7946", "one of them",
						"state directory")) == 1
				})
				f.always(peers.DuplicateWarnEvery/2, "it is said once, and the fleet goes on", func() bool {
					return len(clone.logs.With("error")) == 1 && hosts[0].sees(1, 2, 3)
				})
				if clone.Stats().SameKey < 2 {
					t.Errorf("counted %+v", clone.Stats())
				}
			})
		})
	}
}

// Of two agents with one key the original continues and the copy is told to stop, in any order of their starts and
// under any names. The copy is the one whose directory was made elsewhere. If both are at home, as clones of a machine
// are, it is the later one.
func TestTheCopyOfAnAgentIsToldToStop(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name           string
		first, second  bool
		copied, called int // The index of the copy, and the name of the second one.
	}{
		{"the copy comes later", true, false, 1, 2},
		{"the copy comes later, under another name", true, false, 1, 22},
		{"the copy was there first", false, true, 0, 2},
		{"the copy was there first, under another name", false, true, 0, 22},
		{"clones", true, true, 1, 2},
		{"clones under two names", true, true, 1, 22},
		{"two copies", false, false, 1, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inFleet(t, func(_ *testing.T, f *fleet) {
				hosts := f.startAll(1)
				start := func(addr, called int, home bool) *host {
					return f.start(addr, func(c *Config) {
						c.Name, c.Key, c.AtHome = fmt.Sprint("host", called), private, home
					})
				}
				duplicates := []*host{start(2, 2, tc.first)}
				third := f.start(3)
				f.within(5*time.Second, "everybody is there", func() bool { return len(hosts[0].All()) == 3 })
				time.Sleep(time.Minute)
				duplicates = append(duplicates, start(22, tc.called, tc.second))
				f.within(30*time.Second, "the copy knows", func() bool {
					return len(duplicates[tc.copied].Copied()) == 1
				})
				duplicates[tc.copied].crash()
				f.always(5*time.Minute, "the original stays", func() bool {
					return len(duplicates[1-tc.copied].Copied()) == 0
				})
				f.within(time.Minute, "the others see it", func() bool {
					m, ok := third.view().Lookup(wire.MemberIDOf(public))
					return ok && m.Addr == duplicates[1-tc.copied].duplicates.Addr
				})
			})
		})
	}
}
