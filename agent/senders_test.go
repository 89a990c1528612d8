package agent

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const second = policy.Time(time.Second)

func port(host string, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(host), port)
}

// admitted counts how many of n messages are admitted, spread over a second from now.
func admitted(s *senders, id wire.MemberID, src netip.AddrPort, now policy.Time, n int) (count int) {
	for i := range n {
		if s.admit(id, netip.AddrPort{}, src, now+second*policy.Time(i)/policy.Time(n)) {
			count++
		}
	}
	return count
}

func TestForgedSendersDoNotUseUpTheAllowanceOfTheRealOne(t *testing.T) {
	s, id, home := newSenders(), wire.MemberID{1}, port("192.0.2.1", 7946)
	if !s.admit(id, netip.AddrPort{}, home, 0) {
		t.Fatal("the first message is not admitted")
	}
	s.cameTo(id, home, netip.Addr{}, 0)
	for i := range 60 {
		now := second * policy.Time(i)
		if got := admitted(&s, id, port("192.0.2.66", 1), now, 60_000); got > 100+rateBurst {
			t.Errorf("%d forged messages are checked in a second", got)
		}
		if got := admitted(&s, id, home, now+second/2, 100); got != 100 {
			t.Errorf("%d of 100 messages of the real sender are admitted", got)
		}
	}
}

func TestAMemberThatWasNotHeardYetHasTheAllowanceOfItsAddress(t *testing.T) {
	s, id := newSenders(), wire.MemberID{1}
	admitted(&s, id, port("192.0.2.66", 1), 0, 60_000)
	if got := admitted(&s, id, port("192.0.2.1", 7946), second, 100); got != 100 {
		t.Errorf("%d of 100 messages are admitted", got)
	}
}

func TestAMemberThatMovesIsHeardAtItsNewAddress(t *testing.T) {
	s, id := newSenders(), wire.MemberID{1}
	for _, src := range []netip.AddrPort{port("192.0.2.1", 7946), port("192.0.2.2", 7946), port("192.0.2.1", 7947)} {
		if !s.admit(id, netip.AddrPort{}, src, 0) {
			t.Errorf("%s is not admitted", src)
		}
		s.cameTo(id, src, src.Addr(), 0)
		if got := s.localFor(id); got != src.Addr() {
			t.Errorf("answers leave from %s", got)
		}
	}
}

// The bound is on signature checks, so it holds however many addresses the forger has.
func TestManySourcesTogetherHaveABoundedAllowance(t *testing.T) {
	for _, at := range map[string]func(i int) netip.AddrPort{
		"IPv4": func(i int) netip.AddrPort {
			return port(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}).String(), 1)
		},
		"IPv6": func(i int) netip.AddrPort {
			a := [16]byte{0x20, 1, 0xd, 0xb8}
			binary.BigEndian.PutUint32(a[4:], uint32(i))
			return netip.AddrPortFrom(netip.AddrFrom16(a), 1)
		},
		"addresses of one IPv6 host": func(i int) netip.AddrPort {
			a := [16]byte{0x20, 1, 0xd, 0xb8}
			binary.BigEndian.PutUint32(a[12:], uint32(i))
			return netip.AddrPortFrom(netip.AddrFrom16(a), 1)
		},
	} {
		s, home := newSenders(), port("192.0.2.1", 7946)
		s.cameTo(wire.MemberID{1}, home, netip.Addr{}, 0)
		count := 0
		for i := range 60_000 {
			if s.admit(wire.MemberID{2}, netip.AddrPort{}, at(i), second*policy.Time(i)/60_000) {
				count++
			}
		}
		if count > 2000+allSourcesBurst {
			t.Errorf("%d messages are checked in a second", count)
		}
		if len(s.sources.known) > maxSources+1 {
			t.Errorf("%d sources are remembered", len(s.sources.known))
		}
		if got := admitted(&s, wire.MemberID{1}, home, second, 100); got != 100 {
			t.Errorf("%d of 100 messages of a member are admitted", got)
		}
	}
}

// The queue is short, and what one address plays back must not fill it.
func TestOneAddressDoesNotFillTheQueue(t *testing.T) {
	s, flood, home := newSources(queueRefill, queueBurst), netip.MustParseAddr("192.0.2.66"),
		netip.MustParseAddr("192.0.2.1")
	passed := 0
	for i := range 15_000 {
		now := second * policy.Time(i) / 15_000
		if s.admit(flood, now) {
			passed++
		}
		if i%150 == 0 && !s.admit(home, now) {
			t.Fatal("a message of another address is dropped")
		}
	}
	if passed > 2000+queueBurst {
		t.Errorf("%d messages pass in a second", passed)
	}
}

// A recorded message has a good signature, wherever it is played back from.
func TestAMemberKeepsItsAllowanceWhereItIsWhenItsMessagesArePlayedBack(t *testing.T) {
	s, id, home, elsewhere := newSenders(), wire.MemberID{1}, port("192.0.2.1", 7946), port("192.0.2.66", 1)
	for i := range 1000 {
		now := second * policy.Time(i) / 1000
		if s.admit(id, home, elsewhere, now) {
			s.cameTo(id, elsewhere, netip.Addr{}, now)
		}
		if !s.admit(id, home, home, now) && i < rateBurst {
			t.Fatalf("message %d of the member itself is dropped", i)
		}
	}
}

// A message with a good signature may be played back, from anywhere: it uses up nothing that the member needs where it
// has announced to be.
func TestMessagesThatArePlayedBackDoNotUseUpTheAllowanceOfTheRealOne(t *testing.T) {
	s, id, home, elsewhere := newSenders(), wire.MemberID{1}, port("192.0.2.1", 7946), port("192.0.2.66", 1)
	for i := range 60 {
		now := second * policy.Time(i)
		s.cameTo(id, elsewhere, netip.Addr{}, now)
		admitted(&s, id, elsewhere, now, 60_000)
		for n := range 100 {
			if !s.admit(id, home, home, now+second/2) {
				t.Fatalf("message %d of the real sender is not admitted", n)
			}
		}
	}
}
