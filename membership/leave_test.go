package membership

import (
	"net/netip"
	"testing"
	"time"
)

// stopped lets a host leave as an agent does, and returns how long that took.
func (h *host) stopped() time.Duration {
	h.f.t.Helper()
	begun := time.Now()
	if err := h.Leave(2 * time.Second); err != nil {
		h.f.t.Errorf("%s: %v", h.end.Addr, err)
	}
	h.stop()
	return time.Since(begun)
}

func TestAStopTellsAllWithinASecond(t *testing.T) {
	for name, c := range map[string]struct {
		members, crashed int
		// loses is the number of the datagram in a row that is lost.
		loses int
	}{
		"two members": {members: 2}, "five": {members: 5}, "forty": {members: 40},
		"one of five has died just before": {members: 5, crashed: 1},
		"a seventh is lost":                {members: 8, loses: 7},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				hosts := f.startAll(c.members)
				f.within(60*time.Second, "everybody sees everybody", allSee(hosts, upTo(c.members)...))
				time.Sleep(30 * time.Second)
				if c.loses > 0 {
					sent := 0
					f.net.SetFilter(func(_, _ netip.AddrPort, _ []byte) bool {
						sent++
						return sent%c.loses != 0
					})
				}
				for _, h := range hosts[1 : 1+c.crashed] {
					h.crash()
				}
				last, stay := hosts[len(hosts)-1], append(hosts[:1:1], hosts[1+c.crashed:len(hosts)-1]...)
				if took := last.stopped(); took >= time.Second {
					t.Errorf("the stop took %v", took)
				}
				f.within(time.Second, "all others see that it has left", func() bool {
					for _, h := range stay {
						if h.state(c.members) != "left" {
							return false
						}
					}
					return true
				})
				f.always(30*time.Second, "nobody takes that back", func() bool {
					for _, h := range stay {
						if h.state(c.members) != "left" {
							return false
						}
					}
					return true
				})
			})
		})
	}
}

func TestAFleetThatStopsAtOnceTakesNoLonger(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		const n = 10
		hosts := f.startAll(n)
		f.within(60*time.Second, "everybody sees everybody", allSee(hosts, upTo(n)...))
		time.Sleep(30 * time.Second)
		took := make(chan time.Duration)
		for _, h := range hosts {
			go func() { took <- h.stopped() }()
		}
		for range hosts {
			if d := <-took; d >= time.Second {
				t.Errorf("a stop took %v", d)
			}
		}
	})
}

func TestALeaveThatReachesNobodyEndsWithinTheTimeout(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(60*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		f.net.Partition([]netip.AddrPort{hosts[0].end.Addr, hosts[1].end.Addr}, []netip.AddrPort{hosts[2].end.Addr})
		begun := time.Now()
		if err := hosts[2].Leave(2 * time.Second); err == nil || time.Since(begun) > 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
