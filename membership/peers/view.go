package peers

import (
	"crypto/ed25519"
	"net/netip"
	"slices"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// State is the state of a member.
type State uint8

const (
	// StateAlive is a member that answers.
	StateAlive State = iota
	// StateSuspect is a member that has not answered this member's last probe. It still counts as live.
	StateSuspect
	// StateLeft is a member that left on purpose.
	StateLeft
	// StateFailed is a member that stopped answering. It is tried again for seven days.
	StateFailed
	// StateUntrusted is a member whose key is not trusted, or no longer.
	StateUntrusted
)

// String returns "alive", "suspect", "left", "failed" or "untrusted".
func (s State) String() string {
	return [...]string{
		StateAlive: "alive", StateSuspect: "suspect", StateLeft: "left", StateFailed: "failed",
		StateUntrusted: "untrusted",
	}[s]
}

// Member is one agent as seen in gossip.
type Member struct {
	ID   wire.MemberID
	Name string
	// Key hashes to ID.
	Key  ed25519.PublicKey
	Addr netip.AddrPort
	// State is StateAlive for all members of a View; [Membership.All] returns the other states too.
	State State
	// Since is when the member's State or address last changed, as far as this member knows. SilentSince is since when
	// it has not answered the probes of this one; zero if it does. Only [Membership.All] fills them in.
	Since, SilentSince time.Time

	Gates []gateMark
}

// Has reports whether the member takes part in gate g.
func (m *Member) Has(g wire.GateID) bool {
	return find(m.Gates, g) >= 0
}

// HasMetToken reports whether the member takes part in gate g and has announced that it has met a token of it.
func (m *Member) HasMetToken(g wire.GateID) bool {
	at := find(m.Gates, g)
	return at >= 0 && m.Gates[at].met
}

// Declared returns what the member has declared of gate g, by which it takes part there; zero if nothing.
func (m *Member) Declared(g wire.GateID) uint64 {
	at := find(m.Gates, g)
	if at < 0 {
		return 0
	}
	return m.Gates[at].declared
}

// Standing returns where the member says that it stands in gate g; zero if it says nothing.
func (m *Member) Standing(g wire.GateID) uint8 {
	at := find(m.Gates, g)
	if at < 0 {
		return 0
	}
	return m.Gates[at].standing
}

func (m *Member) same(o *Member) bool {
	return m.ID == o.ID && m.Name == o.Name && m.Addr == o.Addr && slices.Equal(m.Gates, o.Gates)
}

// View is the set of live members at one moment. It is shared and immutable: do not change its content.
type View struct {
	// Members are sorted by ID; this member is among them.
	Members []Member

	gates []gateView
}

// gateView is a view of one of this member's own gates.
type gateView struct {
	gate       wire.GateID
	peers      []wire.MemberID
	tokenKnown bool
}

// Lookup finds a live member. It does not allocate.
func (v *View) Lookup(id wire.MemberID) (*Member, bool) {
	at, ok := slices.BinarySearchFunc(v.Members, id, func(m Member, id wire.MemberID) int { return m.ID.Compare(id) })
	if !ok {
		return nil, false
	}
	return &v.Members[at], true
}

// Peers returns the live members of one of this member's gates, sorted, including this one. tokenKnown is true if
// another one of them has met a token of that gate. The slice stays the same while the peers do. It does not allocate.
func (v *View) Peers(gate wire.GateID) (ids []wire.MemberID, tokenKnown bool) {
	for i := range v.gates {
		if v.gates[i].gate == gate {
			return v.gates[i].peers, v.gates[i].tokenKnown
		}
	}
	return nil, false
}

// Follows reports whether the view was made for this gate, among others.
func (v *View) Follows(gate wire.GateID) bool {
	return slices.ContainsFunc(v.gates, func(g gateView) bool { return g.gate == gate })
}

// newView makes the view of members, sorted by ID, for the gates of member self. It reuses unchanged peers of the view
// before.
func newView(self wire.MemberID, gates []wire.GateID, members []Member, before *View) *View {
	v := &View{Members: members, gates: make([]gateView, 0, len(gates))}
	for _, g := range gates {
		gv := gateView{gate: g}
		for i := range members {
			m := &members[i]
			if m.Has(g) {
				gv.peers = append(gv.peers, m.ID)
				gv.tokenKnown = gv.tokenKnown || m.ID != self && m.HasMetToken(g)
			}
		}
		if old, _ := before.Peers(g); slices.Equal(old, gv.peers) {
			gv.peers = old
		}
		v.gates = append(v.gates, gv)
	}
	return v
}

func (v *View) same(o *View) bool {
	return slices.EqualFunc(v.Members, o.Members, func(a, b Member) bool { return a.same(&b) }) &&
		slices.EqualFunc(v.gates, o.gates, func(a, b gateView) bool { return a.gate == b.gate })
}
