package membership

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// A member counts as silent after a row of probes without an answer, not after a few at once, and not after one more
// than before.
func TestAMemberIsSilentAfterARowOfProbes(t *testing.T) {
	begin := time.Unix(1e9, 0)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	p := newProbes()
	for range 2 * silentRow {
		p.failed("a", at(0))
	}
	p.failed("a", at(19))
	if !p.silentSince("a").IsZero() {
		t.Error("it is silent too soon")
	}
	p.failed("a", at(20))
	if since := p.silentSince("a"); !since.Equal(at(0)) {
		t.Errorf("it is silent since %s", since)
	}
	p.answered("a")
	for s := 21; s < 21+silentRow-1; s++ {
		p.failed("a", at(s))
	}
	if !p.silentSince("a").IsZero() {
		t.Error("an answer does not end a row")
	}
	if !p.silentSince("b").IsZero() {
		t.Error("a member is silent that was never probed")
	}
}

// A member that does not answer remains silent when it is taken for failed, and a crash is no silence.
func TestAMemberThatIsTakenForFailedStaysSilent(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(3)
		silent := func(i int) bool {
			return slices.ContainsFunc(hosts[0].All(), func(m Member) bool {
				return m.ID == wire.MemberIDOf(peertest.KeyOf(i)) && !m.SilentSince.IsZero()
			})
		}
		f.within(time.Minute, "all see each other", allSee(hosts, 1, 2, 3))
		cut := hosts[2].end.Addr
		f.net.SetFilter(func(src, dst netip.AddrPort, _ []byte) bool { return src != cut && dst != cut })
		f.within(5*time.Minute, "host 3 is silent", func() bool { return silent(3) })
		hosts[1].crash()
		hosts[2].crash()
		f.within(5*time.Minute, "both have failed", func() bool {
			return hosts[0].state(2) == "failed" && hosts[0].state(3) == "failed"
		})
		f.always(time.Minute, "only host 3 is silent", func() bool { return silent(3) && !silent(2) })
	})
}

// A member to whose address this host has no route is silent after a few seconds, even if it is taken for failed. A
// datagram that cannot be sent for another reason is like one without an answer: the host of a member that crashed is
// unreachable, too.
func TestAMemberWithoutARouteIsSilentSoon(t *testing.T) {
	begin := time.Unix(1e9, 0)
	refused := func(why error) error {
		return &net.OpError{Op: "write", Net: "udp", Err: os.NewSyscallError("sendto", why)}
	}
	for _, c := range []struct {
		why    error
		every  time.Duration
		count  int
		gone   bool
		silent bool
	}{
		{why: syscall.ENETUNREACH, every: time.Second, count: 4, silent: true},
		{why: syscall.EADDRNOTAVAIL, every: time.Second, count: 4, silent: true},
		{why: syscall.ENETUNREACH, every: 200 * time.Millisecond, count: 15},
		{why: syscall.ENETUNREACH, every: 200 * time.Millisecond, count: 16, silent: true},
		{why: syscall.ENETUNREACH, every: time.Minute, count: 3},
		{why: syscall.ENETUNREACH, every: time.Second, count: 4, gone: true, silent: true},
		{why: syscall.EHOSTUNREACH, every: time.Second, count: 15},
		{why: syscall.EPERM, every: 2 * time.Second, count: 11, silent: true},
		{why: syscall.EHOSTUNREACH, every: time.Minute, count: 9, gone: true},
		{why: errors.New("it is closed"), every: time.Second, count: 4},
	} {
		p := newProbes()
		if c.gone {
			p.saw("a", true)
		}
		for i := range c.count {
			p.unsent("a", refused(c.why), begin.Add(time.Duration(i)*c.every))
		}
		if silent := !p.silentSince("a").IsZero(); silent != c.silent {
			t.Errorf("%+v: it is silent: %v", c, silent)
		}
	}
}

// A host that nobody answers needs a row of probes of several members, all answered by TCP alone, to say so. Then all
// members are silent, but not those that were gone before.
func TestNobodyAnswersAfterARowOfProbesOfSeveralMembers(t *testing.T) {
	begin := time.Unix(1e9, 0)
	for _, c := range []struct {
		name   string
		of     []string
		count  int
		answer int
		silent bool
	}{
		{name: "too few", of: []string{"a", "b"}, count: unheardRow - 1},
		{name: "enough", of: []string{"a", "b"}, count: unheardRow, silent: true},
		{name: "one member", of: []string{"a"}, count: 10 * unheardRow},
		{name: "an answer", of: []string{"a", "b"}, count: 2*unheardRow - 2, answer: unheardRow - 1},
		{name: "many members", of: []string{"a", "b", "c", "d", "e"}, count: unheardRow, silent: true},
	} {
		p := newProbes()
		p.saw("gone", true)
		for i := range c.count {
			if c.answer > 0 && i == c.answer {
				p.answered("b")
			}
			p.overTCP(c.of[i%len(c.of)], begin.Add(time.Duration(i)*time.Second))
		}
		for _, node := range []string{"a", "never probed"} {
			if silent := !p.silentSince(node).IsZero(); silent != c.silent {
				t.Errorf("%s: %q is silent: %v", c.name, node, silent)
			}
		}
		if !p.silentSince("gone").IsZero() {
			t.Errorf("%s: a member that is gone is silent", c.name)
		}
		p.answered("a")
		if !p.silentSince("never probed").IsZero() {
			t.Errorf("%s: an answer does not end it", c.name)
		}
	}
}

// A host in a fleet of three that loses a third of its packets in each direction does not say for a day that nobody
// answers it.
func TestALossyHostDoesNotSayThatNobodyAnswers(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	arrives := func() bool { return dice.IntN(9) < 4 } // there, and the answer back
	p, begin, only := newProbes(), time.Unix(1e9, 0), 0
	for s := range 24 * 3600 {
		node := fmt.Sprint(s % 2)
		switch now := begin.Add(time.Duration(s) * time.Second); {
		case arrives():
			p.answered(node)
		case !arrives(): // by way of the third
			only++
			p.overTCP(node, now)
		}
		if !p.silentSince("third").IsZero() {
			t.Fatalf("it says so after %d s", s)
		}
	}
	if only < 20_000 {
		t.Errorf("only %d probes were answered by TCP alone", only)
	}
}

// A host whose datagrams are lost, but whose streams are not, knows soon that nobody answers it.
func TestAHostThatNobodyAnswersKnowsItSoon(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(time.Minute, "all see each other", allSee(hosts, 1, 2, 3))
		cut := hosts[2].end.Addr
		f.net.SetFilter(func(src, dst netip.AddrPort, _ []byte) bool { return src != cut && dst != cut })
		f.within(16*time.Second, "host 3 knows that nobody answers", func() bool {
			return !slices.ContainsFunc(hosts[2].All(), func(m Member) bool {
				return m.ID != wire.MemberIDOf(peertest.KeyOf(3)) && m.SilentSince.IsZero()
			})
		})
		f.net.SetFilter(nil)
		f.within(5*time.Second, "an answer ends it", func() bool {
			return !slices.ContainsFunc(hosts[2].All(), func(m Member) bool { return !m.SilentSince.IsZero() })
		})
	})
}
