package membership

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
)

func TestTwoMembersWithOneNameWorkAndAreWarnedAbout(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := []*host{f.start(1), f.start(2), f.start(3, func(c *Config) { c.Name = "host2" })}
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		f.within(time.Second, "they are warned about", func() bool {
			return len(hosts[0].logs.With("warn", "same name", "host2", "10.0.0.2:7946", "10.0.0.3:7946",
				"--name")) == 1
		})
		time.Sleep(peers.WarnEvery / 2)
		if n := len(hosts[0].logs.With("warn")); n != 1 {
			t.Errorf("warned %d times", n)
		}
	})
}
