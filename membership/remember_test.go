package membership

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
)

// The restarted member has no address to join, and some of its remembered members are dead.
func TestARestartedMemberFindsItsFleetByRememberedMembers(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(8)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, upTo(8)...))
		remembered := hosts[0].Remembered()
		for _, h := range append(hosts[3:], hosts[0]) {
			h.crash()
		}
		time.Sleep(time.Hour)
		seed := f.start(1, func(c *Config) { c.Join, c.Remembered = nil, remembered })
		f.within(2*time.Second, "it is back", allSee([]*host{seed, hosts[1], hosts[2]}, 1, 2, 3))
	})
}

// The restarted member knows no other member, so the others have to find it.
func TestAFailedMemberIsFoundWithinSeconds(t *testing.T) {
	for down, limit := range map[time.Duration]time.Duration{
		5 * time.Second: 10 * time.Second, time.Hour: 2 * peers.HealMax,
	} {
		inFleet(t, func(_ *testing.T, f *fleet) {
			hosts := f.startAll(3)
			f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
			hosts[0].crash()
			f.within(time.Minute, "it has failed", allSee(hosts[1:], 2, 3))
			time.Sleep(down)
			hosts[0] = f.start(1, func(c *Config) { c.Join = nil })
			f.within(limit, "it is back", allSee(hosts, 1, 2, 3))
		})
	}
}
