package membership

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
)

func groupsOf(a, b []int) (groups [2][]netip.AddrPort) {
	for i, numbers := range [][]int{a, b} {
		for _, n := range numbers {
			groups[i] = append(groups[i], peertest.AddrOf(n))
		}
	}
	return groups
}

func TestJoinIsTriedUntilSomebodyAnswers(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		late := f.start(2)
		time.Sleep(30 * time.Minute)
		warned := late.logs.With("warn", "cannot join the fleet yet", "10.0.0.1", "is it running")
		if len(warned) < 1 || len(warned) > 4 {
			t.Errorf("warned %d times in half an hour: %s", len(warned), warned)
		}
		seed := f.start(1)
		f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, seed}, 1, 2))
		if len(late.logs.With("info", "joined the fleet")) != 1 {
			t.Error("it did not say that it has joined")
		}
	})
}

func TestJoinLooksNamesUpEachTime(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		var moved atomic.Bool
		seed := f.start(1)
		late := f.start(2, func(c *Config) {
			c.Join = []string{"seed.example"}
			c.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
				switch {
				case host != "seed.example":
					t.Errorf("looked up %q", host)
				case moved.Load():
					return []netip.Addr{peertest.AddrOf(1).Addr()}, nil
				}
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
		})
		time.Sleep(time.Minute)
		if len(late.logs.With("warn", "seed.example", "no such host", "check the name")) != 1 {
			t.Errorf("warned: %s", late.logs.With("warn"))
		}
		moved.Store(true)
		f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, seed}, 1, 2))
	})
}

func TestSeedThatIsToldToJoinItselfWaitsForOthers(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		seed := f.start(1, func(c *Config) {
			c.Join = []string{"seed.example"}
			c.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{peertest.AddrOf(1).Addr()}, nil
			}
		})
		time.Sleep(10 * time.Minute)
		if len(seed.logs.With("debug", "Initiating push/pull")) > 0 {
			t.Error("it has joined itself")
		}
		if lines := seed.logs.With("info", "is this agent itself"); len(lines) != 1 {
			t.Errorf("told: %s", lines)
		}
	})
}

// backHere is a Streams that connects to its own host by an address that the host does not know as its own.
type backHere struct {
	Streams
	outside, inside netip.AddrPort
	dialled         *atomic.Int32
}

func (s backHere) Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error) {
	if dst == s.outside {
		s.dialled.Add(1)
		dst = s.inside
	}
	return s.Streams.Dial(ctx, dst)
}

func TestAddressThatLeadsBackToThisAgentIsNotTried(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		var dialled atomic.Int32
		f.wrap = func(s Streams) Streams {
			return backHere{s, peertest.AddrOf(9), peertest.AddrOf(1), &dialled}
		}
		f.start(1, func(c *Config) { c.Join = []string{"10.0.0.9"} })
		time.Sleep(peers.MirrorFor - time.Minute)
		if n := dialled.Load(); n != 1 {
			t.Errorf("it has joined itself %d times", n)
		}
	})
}

func TestSplitFleetHeals(t *testing.T) {
	for name, sides := range map[string][2][]int{
		"in halves":       {{1, 2, 3}, {4, 5}},
		"one on its own":  {{1}, {2, 3, 4, 5}},
		"without a seed":  {{2}, {1, 3, 4, 5}},
		"pair, no others": {{1}, {2}},
	} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(_ *testing.T, f *fleet) {
				n := len(sides[0]) + len(sides[1])
				hosts := make([]*host, n)
				for i := range hosts {
					hosts[i] = f.start(i + 1)
				}
				f.within(5*time.Second, "everybody sees everybody", allSee(hosts, upTo(n)...))
				groups := groupsOf(sides[0], sides[1])
				f.net.Partition(groups[:]...)
				f.within(time.Minute, "each side sees itself", func() bool {
					return hosts[sides[0][0]-1].sees(sides[0]...) && hosts[sides[1][0]-1].sees(sides[1]...)
				})
				time.Sleep(5 * time.Minute)
				f.net.Heal()
				f.within(time.Minute, "everybody sees everybody again", allSee(hosts, upTo(n)...))
			})
		})
	}
}

func TestSplitFleetHealsWithoutAnAddressToJoin(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(5)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4, 5))
		if err := hosts[0].Leave(2 * time.Second); err != nil { // the address that all join
			t.Error(err)
		}
		hosts[0].stop()
		groups := groupsOf([]int{2, 3}, []int{4, 5})
		f.net.Partition(groups[:]...)
		f.within(time.Minute, "each side sees itself", func() bool {
			return allSee(hosts[1:3], 2, 3)() && allSee(hosts[3:], 4, 5)()
		})
		time.Sleep(5 * time.Minute)
		f.net.Heal()
		f.within(time.Minute, "everybody sees everybody again", allSee(hosts[1:], 2, 3, 4, 5))
	})
}

func TestFleetsThatWereStartedApartFindEachOther(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		joining := func(to string) func(*Config) { return func(c *Config) { c.Join = []string{to, "10.0.0.1"} } }
		f.net.Partition([]netip.AddrPort{peertest.AddrOf(1), peertest.AddrOf(2)},
			[]netip.AddrPort{peertest.AddrOf(3), peertest.AddrOf(4)})
		hosts := []*host{f.start(1), f.start(2), f.start(3, joining("10.0.0.4")), f.start(4, joining("10.0.0.3"))}
		f.within(time.Minute, "each side sees itself", func() bool {
			return hosts[0].sees(1, 2) && hosts[2].sees(3, 4)
		})
		time.Sleep(5 * time.Minute)
		f.net.Heal()
		f.within(3*peers.JoinSlow, "everybody sees everybody", allSee(hosts, 1, 2, 3, 4))
	})
}

func TestNewcomerSyncsAFewTimesMore(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(2)
		f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2))
		time.Sleep(11 * time.Second)
		// The join; after 1, 3, 7 and perhaps 15 seconds, give or take half; and at most once by memberlist itself.
		if n := len(hosts[1].logs.With("debug", "Initiating push/pull")); n < 4 || n > 6 {
			t.Errorf("it has synced %d times", n)
		}
		before := len(hosts[1].logs.With("debug", "Initiating push/pull"))
		time.Sleep(10 * time.Minute)
		if n := len(hosts[1].logs.With("debug", "Initiating push/pull")) - before; n > 50 {
			t.Errorf("it has synced %d times more in ten minutes", n)
		}
	})
}

func TestLargeFleetRarelyTriesAMemberThatNeverComesBack(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		const n = 20
		hosts := f.startAll(n)
		f.within(time.Minute, "everybody sees everybody", allSee(hosts, upTo(n)...))
		hosts[n-1].crash()
		f.within(30*time.Second, "the last one is gone", allSee(hosts[:n-1], upTo(n-1)...))
		time.Sleep(10 * time.Minute)
		tries := 0
		for _, h := range hosts[:n-1] {
			tries += len(h.logs.With("debug", "a lost member does not answer"))
		}
		// One member is missing. The 19 others together try it once in ten seconds: about 60 times.
		if tries < 20 || tries > 120 {
			t.Errorf("tried %d times in ten minutes", tries)
		}
	})
}

func TestMemberWithAnotherSecretIsRefusedAndBothAreWarned(t *testing.T) {
	for name, key := range map[string][]byte{"another": secretTwo, "none": nil} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				seed := f.start(1)
				other := f.start(2, func(c *Config) { c.Secrets = peertest.SecretsOf(key) })
				f.within(10*time.Second, "both are warned", func() bool {
					return len(seed.logs.With("warn", "10.0.0.2", "has another secret", "--secret-file")) == 1 &&
						len(other.logs.With("warn", "10.0.0.1", "it has another secret", "--secret-file")) == 1
				})
				f.always(5*time.Minute, "they do not see each other", func() bool {
					return seed.sees(1) && other.sees(2)
				})
				if n := len(seed.logs.With("warn")); n > 2 || seed.Stats().Foreign < 10 {
					t.Errorf("warned %d times of %+v", n, seed.Stats())
				}
			})
		})
	}
}

func TestExplanationNamesTheRemedy(t *testing.T) {
	for text, remedy := range map[string]string{
		"failed to join 10.0.0.1:7946: dial tcp: connection refused": "dial tcp: connection " +
			"refused: no wanderd listens there",
		"failed to join [::1]:7946: EOF": "EOF: it has another " +
			"secret",
		"failed to join 10.0.0.1:1: dial tcp: i/o timeout": "dial tcp: i/o timeout: " +
			"is the host up",
		"failed to join [fd00::1]:1: dial tcp [fd00::1]:1: connect: network is unreachable": "dial tcp [fd00::1]:1: " +
			"connect: network is unreachable: this host has no route",
		"failed to join 10.0.0.1:1: dial tcp 10.0.0.1:1: connect: no route to host": "dial tcp 10.0.0.1:1: " +
			"connect: no route to host: that host is down",
		"failed to join x: malformed": "malformed: it has " +
			"another secret",
		"looking up x: lookup x: no such host": "looking up x: lookup " +
			"x: no such host: check the name",
		"failed to join x: Node 'a' protocol version (1) is odd.": "Node 'a' protocol " +
			"version (1) is odd.",
	} {
		if got := peers.Explain(errors.New(text)); !strings.HasPrefix(got, remedy) {
			t.Errorf("%q is explained as %q, want %q", text, got, remedy)
		}
	}
}
