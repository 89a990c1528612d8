package membership

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/wire"
)

func TestMembersFindEachOtherThroughOneSeed(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		inFleet(t, func(t *testing.T, f *fleet) {
			hosts := f.startAll(n)
			f.within(5*time.Second, "everybody sees everybody", allSee(hosts, upTo(n)...))
			m, ok := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(2)))
			if !ok || m.Name != "host2" || m.Addr != peertest.AddrOf(2) || !m.Key.Equal(peertest.KeyOf(2)) ||
				!m.Has(gateA) || m.Has(gateB) {
				t.Errorf("host1 knows host2 as %+v", m)
			}
			for _, h := range hosts {
				if lines := h.logs.With("warn"); len(lines) > 0 {
					t.Errorf("warnings on a good day: %s", lines)
				}
			}
		})
	}
}

func TestMembersFindEachOtherWithoutASecret(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		inTheClear := func(c *Config) { c.Secrets = nil }
		hosts := []*host{f.start(1, inTheClear), f.start(2, inTheClear), f.start(3, inTheClear)}
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
	})
}

func TestManyThatStartAtOnceSoonSeeEachOther(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		longest := 0
		f.net.SetFilter(func(_, _ netip.AddrPort, payload []byte) bool {
			longest = max(longest, len(payload))
			return true
		})
		const n = 40
		hosts := f.startAll(n)
		f.within(10*time.Second, "everybody sees everybody", allSee(hosts, upTo(n)...))
		f.net.SetFilter(nil)
		if longest < 1000 || longest > len(envelope)+streams.MaxPacket {
			t.Errorf("the longest datagram had %d bytes, want at most %d and enough to tell", longest,
				len(envelope)+streams.MaxPacket)
		}
		for _, h := range hosts {
			if s := h.Stats(); s != (Stats{}) {
				t.Errorf("counted on a good day: %+v", s)
			}
		}
	})
}

func TestMemberThatLeavesIsGoneAtOnceAndListedAsLeft(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(4)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4))
		if err := hosts[3].Leave(2 * time.Second); err != nil {
			t.Error(err)
		}
		hosts[3].stop()
		f.within(time.Second, "host4 is gone", allSee(hosts[:3], 1, 2, 3))
		for _, h := range hosts[:3] {
			if h.state(4) != "left" || len(h.logs.With("info", "a member left")) != 1 {
				t.Errorf("host4 is %s, told %v", h.state(4), h.logs.With("info"))
			}
		}
		f.always(2*time.Minute, "host4 is listed as left, and nobody tries to reach it", func() bool {
			return hosts[0].state(4) == "left" && len(hosts[0].logs.With("debug", "lost member")) == 0
		})
	})
}

func TestMemberThatCrashesIsFoundFailed(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		hosts[2].crash()
		suspected := false
		f.within(20*time.Second, "host3 is gone", func() bool {
			suspected = suspected || hosts[0].state(3) == "suspect"
			return allSee(hosts[:2], 1, 2)()
		})
		if hosts[0].state(3) != "failed" || !suspected || len(hosts[0].logs.With("info", "a member failed")) != 1 {
			t.Errorf("host3 is %s, suspected: %t", hosts[0].state(3), suspected)
		}
	})
}

func TestMemberThatRestartsAtAnotherAddressIsFoundThere(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "later": 2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				hosts := f.startAll(3)
				f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
				hosts[2].crash()
				time.Sleep(pause)
				again := f.start(3, func(c *Config) { c.Addr = peertest.AddrOf(33) })
				f.within(30*time.Second, "host3 is found at its new address", func() bool {
					m, ok := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(3)))
					return ok && m.Addr == peertest.AddrOf(33) && again.sees(1, 2, 3)
				})
				if lines := again.logs.With("error"); len(lines) > 0 {
					t.Errorf("errors: %s", lines)
				}
			})
		})
	}
}

func TestMemberThatRestartsUnderAnotherNameIsOneMember(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		hosts[2].crash()
		again := f.start(3, func(c *Config) { c.Name = "renamed" })
		f.within(10*time.Second, "the new name is known", func() bool {
			m, ok := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(3)))
			return ok && m.Name == "renamed"
		})
		f.always(time.Minute, "it is one member under its new name, also when its old one has failed", func() bool {
			m, ok := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(3)))
			return ok && m.Name == "renamed" && len(hosts[0].All()) == 3
		})
		if lines := again.logs.With("error"); len(lines) > 0 {
			t.Errorf("errors: %s", lines)
		}
	})
}

func TestAnnouncementReachesOthers(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		both := func(c *Config) { c.Gates = []wire.GateID{gateA, gateB} }
		hosts := []*host{f.start(1, both), f.start(2, both), f.start(3)}
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		hosts[1].Announce(gateB)
		f.within(5*time.Second, "host1 knows of host2's token", func() bool {
			_, known := hosts[0].view().Peers(gateB)
			return known
		})
		if _, known := hosts[0].view().Peers(gateA); known {
			t.Error("host1 knows of a token that nobody has met")
		}
		if _, known := hosts[1].view().Peers(gateB); known {
			t.Error("host2 counts its own announcement as another member's")
		}
		if peers, _ := hosts[0].view().Peers(gateB); len(peers) != 2 {
			t.Errorf("peers of gate b: %v", peers)
		}
		if peers, _ := hosts[2].view().Peers(gateB); peers != nil {
			t.Errorf("host3 has peers of a gate it does not have: %v", peers)
		}
	})
}

func TestPeersAreTheSameSliceWhileTheyAreTheSame(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := []*host{f.start(1), f.start(2), f.start(3, func(c *Config) { c.Gates = []wire.GateID{gateB} })}
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		before, _ := hosts[0].view().Peers(gateA)
		hosts[2].crash()
		f.within(20*time.Second, "host3 is gone", func() bool { return hosts[0].sees(1, 2) })
		after, _ := hosts[0].view().Peers(gateA)
		if len(after) != 2 || &before[0] != &after[0] {
			t.Errorf("peers were %v and are %v", before, after)
		}
	})
}

func TestStartRefusesAnInvalidConfiguration(t *testing.T) {
	valid := func() Config {
		return Config{Name: "a", Key: peertest.PrivateOf(1), Addr: peertest.AddrOf(1), Gates: []wire.GateID{gateA}}
	}
	for want, spoil := range map[string]func(*Config){
		"the name is empty":      func(c *Config) { c.Name = "" },
		"cannot be printed":      func(c *Config) { c.Name = "a\x1b[31m" },
		"at most 64 are":         func(c *Config) { c.Name = strings.Repeat("x", 65) },
		"private key of 3 bytes": func(c *Config) { c.Key = c.Key[:3] },
		"rename one of them":     func(c *Config) { c.Gates = []wire.GateID{1 << 49, 1<<49 + 1} },
		"run a second agent":     func(c *Config) { c.Gates = make([]wire.GateID, identity.MaxGates+1) },
		`cannot join "a:b"`:      func(c *Config) { c.Join = []string{"a:b"} },
		"give --advertise":       func(c *Config) { c.Advertise = netip.MustParseAddrPort("0.0.0.0:7946") },
		"no port to advertise":   func(c *Config) { c.Addr = netip.AddrPortFrom(c.Addr.Addr(), 0) },
	} {
		c := valid()
		spoil(&c)
		if _, err := Start(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestShutdownIsQuickAndRepeatable(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		alone := f.start(9, func(c *Config) { c.Join = []string{"10.9.9.9", "10.9.9.8:1"} })
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		f.net.Partition([]netip.AddrPort{peertest.AddrOf(1)}, []netip.AddrPort{peertest.AddrOf(2), peertest.AddrOf(3)})
		time.Sleep(10 * time.Second) // probes, syncs and joins are stuck now
		for _, h := range append(hosts, alone) {
			start := time.Now()
			for range 2 {
				if err := h.Shutdown(); err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("shutdown took %v", took)
			}
			if err := h.Leave(time.Second); err != nil {
				t.Errorf("leaving after shutdown: %v", err)
			}
		}
	})
}
