package membership

import (
	"testing"
	"time"
)

func TestAgentWithACopiedKeyIsReportedWithBothAddresses(t *testing.T) {
	for name, called := range map[string]string{"same name": "host2", "another name": "clone"} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				hosts := f.startAll(3)
				f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
				clone := f.start(2, func(c *Config) { c.Name, c.Addr = called, addrOfHost(22) })
				f.within(time.Minute, "the clone says so", func() bool {
					return len(clone.logs.with("error", "10.0.0.22:7946", "10.0.0.2:7946", "one of them", "state directory")) == 1
				})
				f.always(twinWarnEvery/2, "it is said once, and the fleet goes on", func() bool {
					return len(clone.logs.with("error")) == 1 && hosts[0].sees(1, 2, 3)
				})
				if clone.Stats().SameKey < 2 {
					t.Errorf("counted %+v", clone.Stats())
				}
			})
		})
	}
}
