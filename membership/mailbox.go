package membership

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

const (
	// refusedMax bounds the refusals that wait for a report.
	refusedMax = 16
)

// mailbox receives memberlist's callbacks: it implements memberlist's AliveDelegate, EventDelegate and
// ConflictDelegate. The callbacks run under memberlist's node lock. So mailbox only copies, overwrites the unread
// sighting of the same node, and signals ring. It never blocks and never calls back.
type mailbox struct {
	// self is this node's name, and id its identity. loopback is true if it advertises a loopback address. All are
	// constant.
	self     string
	id       wire.MemberID
	loopback bool
	// ring signals that there is mail; its capacity is one.
	ring chan struct{}

	admission *admission.Admission

	mu sync.Mutex
	peers.Reports
	// refusals counts all refusals since the start.
	refusals uint64
	// silent are all nodes that do not answer.
	silent map[string]bool
	// probes has a lock of its own.
	probes *probes
	// checked caches, for each node, the result of the last check and what was checked.
	checked map[string]check
	// counters has the highest counter of each member's announcements so far.
	counters map[wire.MemberID]uint64
}

type check struct {
	meta string
	addr netip.AddrPort
	told peers.Sighting
	err  error
}

func newMailbox(self string, id wire.MemberID, loopback bool, admitted *admission.Admission) *mailbox {
	return &mailbox{
		admission: admitted, self: self, id: id, loopback: loopback, ring: make(chan struct{}, 1),
		Reports: peers.NewReports(0),
		silent:  make(map[string]bool), probes: newProbes(), checked: make(map[string]check),
		counters: make(map[wire.MemberID]uint64),
	}
}

func (b *mailbox) empty() peers.Reports {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.Reports
	b.Reports = peers.NewReports(m.Own)
	return m
}

// NotifyAlive judges a node: after an error memberlist neither stores the node nor passes it on.
func (b *mailbox) NotifyAlive(n *memberlist.Node) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	told, err := b.check(n)
	// The fleet may have an announcement of a former life of this member, whose clock was ahead of the present one, or
	// of a duplicate.
	if err == nil && told.ID == b.id && told.Counter > b.Own {
		b.Own = told.Counter
		timing.Signal(b.ring)
	}
	if n.Name == b.self {
		return nil
	}
	if err == nil && told.Counter < b.counters[told.ID] {
		return errStale
	}
	if err == nil {
		err = b.admission.Judge(told.Name, told.ID, told.Key, nil)
	}
	switch {
	case err == nil:
		if len(b.counters) >= admission.MaxChecked {
			clear(b.counters)
		}
		b.counters[told.ID] = told.Counter
	case errors.Is(err, identity.ErrNoCertificate): // see unverified
	default:
		b.refusals++
		if len(b.Refused) < refusedMax {
			addr, _ := packets.AddrOf(n)
			b.Refused = append(b.Refused, peers.RefusedNode{Node: n.Name, Addr: addr, Why: err})
		}
		timing.Signal(b.ring)
	}
	return err
}

// errStale is returned for an announcement that a later one of the same member has replaced: normal while news travels.
var errStale = errors.New("an announcement that is out of date")

// check returns a node's announcement, from the cache if its metadata and address have not changed.
func (b *mailbox) check(n *memberlist.Node) (peers.Sighting, error) {
	addr, err := packets.AddrOf(n)
	switch {
	case err != nil:
		return peers.Sighting{}, err
	case addr.Addr().IsLoopback() && !b.loopback:
		return peers.Sighting{},
			errors.New("it advertises a loopback address to other hosts: start it with --advertise")
	case n.PCur != memberlist.ProtocolVersion2Compatible || n.PMin > n.PCur || n.PMax < n.PCur ||
		n.DMin|n.DMax|n.DCur != 0:
		// With one such node in memberlist's table every full sync fails, because no version is common to all.
		return peers.Sighting{}, errors.New("it speaks another version of gossip")
	}
	if c, ok := b.checked[n.Name]; ok && c.meta == string(n.Meta) && c.addr == addr {
		return c.told, c.err
	}
	if len(b.checked) >= admission.MaxChecked {
		clear(b.checked)
	}
	told, err := peers.ParseAnnouncement(n.Name, n.Meta, addr)
	b.checked[n.Name] = check{string(n.Meta), addr, told, err}
	return told, err
}

func (b *mailbox) NotifyJoin(n *memberlist.Node)   { b.saw(n, false) }
func (b *mailbox) NotifyUpdate(n *memberlist.Node) { b.saw(n, false) }

// NotifyLeave is called for members that left and for members that failed.
func (b *mailbox) NotifyLeave(n *memberlist.Node) { b.saw(n, true) }

func (b *mailbox) saw(n *memberlist.Node, gone bool) {
	if n.Name == b.self {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	told, err := b.check(n)
	if err != nil {
		return // NotifyAlive has refused it
	}
	if gone {
		delete(b.silent, n.Name)
	}
	b.probes.saw(n.Name, gone)
	switch told.Gone = gone; {
	case told.ID != b.id:
		b.Seen[n.Name] = told
	case !gone:
		b.Duplicate = told.Addr
	}
	timing.Signal(b.ring)
}

// NotifyConflict is called when two addresses claim one node name. It handles this node's own name only: other members
// report their own conflicts.
func (b *mailbox) NotifyConflict(existing, other *memberlist.Node) {
	if existing.Name != b.self {
		return
	}
	addr, err := packets.AddrOf(other)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Namesake = addr
	timing.Signal(b.ring)
}

// suspect records that a node did not answer its last probe.
func (b *mailbox) suspect(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent[node], b.Suspects[node] = true, true
	timing.Signal(b.ring)
}

// unanswered records that a node did not answer a datagram.
func (b *mailbox) unanswered(node string) { b.probes.failed(node, time.Now()) }

// onlyTCP records that a node answered a probe by TCP only.
func (b *mailbox) onlyTCP(node string) { b.probes.overTCP(node, time.Now()) }

// unsent records that no datagram could be sent to a node.
func (b *mailbox) unsent(node string, err error) { b.probes.unsent(node, err, time.Now()) }

// answered records that a node answered its last probe.
func (b *mailbox) answered(node string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.silent[node] {
		return // the common case: it answers, as before
	}
	delete(b.silent, node)
	b.Suspects[node] = false
	timing.Signal(b.ring)
}

// meet asks for a meeting with the duplicate at addr.
func (b *mailbox) meet(addr netip.AddrPort) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Duplicate = addr
	timing.Signal(b.ring)
}

// delegate implements memberlist.Delegate and memberlist.PingDelegate.
type delegate struct{ m *Membership }

func (d delegate) NodeMeta(int) []byte { return d.m.peers.Metadata() }

func (d delegate) NotifyMsg(b []byte) { d.m.broadcasts.Hear(b) }

func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.m.broadcasts.Due(overhead, limit)
}

// LocalState returns this member's part of a full sync: a claim to a duplicate after its length, and the broadcasts.
func (d delegate) LocalState(bool) []byte {
	claim := d.m.duplicates.Claim()
	return d.m.broadcasts.AppendState(append([]byte{byte(len(claim))}, claim...))
}

func (d delegate) MergeRemoteState(b []byte, _ bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return
	}
	claim := 1 + int(b[0])
	d.m.duplicates.Heard(b[1:claim])
	d.m.broadcasts.HearState(b[claim:])
}

// AckPayload: every answer to a probe carries this host's wall clock.
func (d delegate) AckPayload() []byte { return d.m.clock.stamp() }

func (d delegate) NotifyPingComplete(n *memberlist.Node, rtt time.Duration, payload []byte) {
	name, id, err := identity.ParseNodeName(n.Name)
	if err != nil {
		return
	}
	addr, err := packets.AddrOf(n)
	if err != nil {
		return
	}
	d.m.mailbox.answered(n.Name)
	d.m.mailbox.probes.answered(n.Name)
	if id == d.m.peers.Self {
		d.m.duplicates.Met(addr)
		d.m.mailbox.meet(addr)
		return
	}
	d.m.clock.heard(name, addr, rtt, payload)
}
