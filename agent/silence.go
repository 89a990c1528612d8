package agent

import (
	"fmt"
	"net/netip"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/wire"
)

// Gossip may know a member as alive while no token reaches it, because its datagrams, or the datagrams to it, are lost.
// The usual causes are an address of another IP version or of another network, and a firewall. Neither side can
// determine the cause, so both name what they see, and what to check.

// silence holds which members do not answer datagrams of this host.
type silence struct {
	// own is the address that this host advertises.
	own netip.AddrPort
	// silent are those members. others is how many members there are besides this host, silent ones included.
	silent []membership.Member
	others []membership.Member
	// hasRoute reports whether this host has a route to an address.
	hasRoute func(netip.Addr) bool
}

// mostSilent is how many silent members have a warning of their own.
const mostSilent = 8

// silence finds the silent members.
func (a *Agent) silence() *silence {
	s := &silence{hasRoute: peers.HasRoute}
	for _, m := range a.members.All() {
		if m.ID == a.self {
			s.own = m.Addr
		}
		live := m.State == membership.StateAlive || m.State == membership.StateSuspect
		// A host that hears no answers sometimes takes the others for failed, until one of them connects.
		if m.ID == a.self || !live && m.SilentSince.IsZero() {
			continue
		}
		s.others = append(s.others, m)
		if !m.SilentSince.IsZero() {
			s.silent = append(s.silent, m)
		}
	}
	return s
}

// cutsOff reports whether all other members of a gate are silent.
func (s *silence) cutsOff(g wire.GateID) bool {
	count := func(list []membership.Member) (n int) {
		for i := range list {
			if list[i].Has(g) {
				n++
			}
		}
		return n
	}
	return len(s.silent) > 0 && count(s.silent) == count(s.others)
}

// warnings names the silent members, and what to check.
func (s *silence) warnings() (list []control.Warning) {
	if len(s.silent) > 1 && len(s.silent) == len(s.others) {
		return []control.Warning{{
			Text: "no member answers the datagrams of this host, so no token comes here: " + s.ownRemedy(),
		}}
	}
	for i := range s.silent {
		m := &s.silent[i]
		if i == mostSilent {
			return append(list, control.Warning{Text: fmt.Sprintf(
				"%d more members do not answer the datagrams of this host: see \"wanderd members\"",
				len(s.silent)-mostSilent)})
		}
		list = append(list, control.Warning{Text: fmt.Sprintf("%s (%s) at %s does not answer the datagrams "+
			"of this host, so neither gets a token from the other: %s", m.Name, m.ID.Short(), m.Addr, s.remedy(m))})
	}
	return list
}

// ownRemedy is the remedy for a host that nobody answers: the cause is probably on this host.
func (s *silence) ownRemedy() string {
	// at most mostSilent, because the loop waits for the kernel's answers
	for i := range min(len(s.silent), mostSilent) {
		if m := &s.silent[i]; !s.hasRoute(m.Addr.Addr()) && isOtherVersion(m.Addr, s.own) {
			return fmt.Sprintf("they advertise %s, to which it has no route: "+
				"give it an %[1]s address, or let all hosts advertise %s (--advertise)",
				version(m.Addr), version(s.own))
		}
	}
	return fmt.Sprintf("the others may not reach it at %s; check that this address is one of their network "+
		"(--advertise), and that port %d is open for UDP in both directions", s.own, s.own.Port())
}

func (s *silence) remedy(m *membership.Member) string {
	switch {
	case isOtherVersion(m.Addr, s.own) && !s.hasRoute(m.Addr.Addr()):
		return fmt.Sprintf("it advertises %s, to which this host has no route: "+
			"let all hosts advertise the same IP version (--advertise)", version(m.Addr))
	case isOtherVersion(m.Addr, s.own):
		return fmt.Sprintf("it advertises %s, and this host %s, to which it may have no route: "+
			"let all hosts advertise the same IP version (--advertise)",
			version(m.Addr), version(s.own))
	case !s.hasRoute(m.Addr.Addr()):
		return "this host has no route to that address: check the address (--advertise there), and the routes here"
	}
	return fmt.Sprintf("check that each address is one of the other's network (--advertise; this host has %s), "+
		"and that port %d is open for UDP in both directions", s.own, m.Addr.Port())
}

func isOtherVersion(a, b netip.AddrPort) bool { return a.Addr().Is4() != b.Addr().Is4() }

func version(a netip.AddrPort) string {
	if a.Addr().Is4() {
		return "IPv4"
	}
	return "IPv6"
}
