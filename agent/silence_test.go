package agent

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// warns reports whether an agent has a warning that contains all of these words.
func (w *world) warns(name string, words ...string) bool {
	w.t.Helper()
	s, err := source{w.agents[name].Agent}.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.ContainsFunc(s.Warnings, func(x control.Warning) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(x.Text, word) })
	})
}

// Gossip knows a member whose datagrams get lost, but no token gets to it. Both sides name it, with the remedy, and its
// gate reports why it does not run. When the datagrams come again, all that ends.
func TestAMemberThatCannotBeReachedIsNamedOnBothSides(t *testing.T) {
	const silent = "does not answer the datagrams of this host"
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		w.start("c", AloneWait)
		time.Sleep(2 * time.Minute)
		for _, name := range []string{"a", "b", "c"} {
			if w.warns(name, silent) || w.warns(name, "no member answers") {
				t.Errorf("%s warns of a fleet that is well", name)
			}
		}
		w.until("another one has the token", 5*time.Minute, func() bool {
			return gateOf(t, w, "a").Running || gateOf(t, w, "b").Running
		})
		cut := w.agents["c"].addr
		w.net.SetFilter(func(src, dst netip.AddrPort, _ []byte) bool { return src != cut && dst != cut })
		w.until("both sides name it", 5*time.Minute, func() bool {
			return w.warns("a", "c (", silent, "--advertise") && w.warns("b", "c (", silent, "UDP") &&
				w.warns("c", "no member answers", "--advertise", "UDP")
		})
		if w.warns("a", "b (", silent) || w.warns("b", "a (", silent) {
			t.Error("those that answer each other are named, too")
		}
		w.until("c says why it does not run", 5*time.Minute, func() bool {
			return w.because("c") == control.BecauseUnreachable
		})
		members, err := source{w.agents["a"].Agent}.Members(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members.Members {
			if m.SilentSince.IsZero() == (m.Name == "c") {
				t.Errorf("%s is silent since %s", m.Name, m.SilentSince)
			}
		}
		w.net.SetFilter(nil)
		w.until("the warnings end", 5*time.Minute, func() bool {
			return !w.warns("a", silent) && !w.warns("b", silent) && !w.warns("c", "no member answers") &&
				!w.warns("c", silent)
		})
	})
}

// The remedy fits the cause, as far as this host can see it.
func TestTheRemedyForASilentMemberFitsTheCause(t *testing.T) {
	v4, v6 := netip.MustParseAddrPort("10.0.0.1:7946"), netip.MustParseAddrPort("[2001:db8::1]:7946")
	at := func(addr netip.AddrPort) membership.Member { return membership.Member{Name: "m", Addr: addr} }
	for _, c := range []struct {
		own           netip.AddrPort
		silent, other []membership.Member
		routes        bool
		want          string
	}{
		{
			v4,
			[]membership.Member{at(v6)},
			[]membership.Member{at(v6), at(v4)},
			false,
			"it advertises IPv6, to which this host has no route: let all hosts advertise the same IP version",
		},
		{
			v4,
			[]membership.Member{at(v6)},
			[]membership.Member{at(v6), at(v4)},
			true,
			"it advertises IPv6, and this host IPv4, to which it may have no route",
		},
		{
			v4,
			[]membership.Member{at(v4)},
			[]membership.Member{at(v4), at(v4)},
			false,
			"this host has no route to that address",
		},
		{
			v4,
			[]membership.Member{at(v4)},
			[]membership.Member{at(v4), at(v4)},
			true,
			"port 7946 is open for UDP in both directions",
		},
		{
			v6,
			[]membership.Member{at(v4), at(v4)},
			[]membership.Member{at(v4), at(v4)},
			false,
			"no member answers the datagrams of this host, so no token comes here: they advertise IPv4, to which it " +
				"has no route",
		},
		{
			v6,
			[]membership.Member{at(v4), at(v4)},
			[]membership.Member{at(v4), at(v4)},
			true,
			"the others may not reach it at [2001:db8::1]:7946",
		},
	} {
		s := silence{own: c.own, silent: c.silent, others: c.other, hasRoute: func(netip.Addr) bool { return c.routes }}
		if list := s.warnings(); len(list) != 1 || !strings.Contains(list[0].Text, c.want) {
			t.Errorf("%+v, want %q", list, c.want)
		}
	}
	many := make([]membership.Member, mostSilent+3)
	s := silence{own: v4, silent: many, others: append(many, at(v4)), hasRoute: func(netip.Addr) bool { return true }}
	if list := s.warnings(); len(list) != mostSilent+1 || !strings.HasPrefix(list[mostSilent].Text, "3 more members") {
		t.Errorf("%d silent members have %d warnings", len(many), len(list))
	}
	if (&silence{}).cutsOff(wire.GateIDOf("g")) {
		t.Error("a host without other members is cut off")
	}
}
