package membership

import (
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/wire"
)

const (
	// checkedMax bounds the remembered results of checks; all are forgotten when there are more.
	checkedMax = 1 << 14
	// refusedMax bounds the refusals that wait to be reported.
	refusedMax = 16
)

// sighting is the newest that memberlist has told about a node.
type sighting struct {
	node string
	addr netip.AddrPort
	told announcement
	gone bool
}

// announcement is what a node's name and metadata say.
type announcement struct {
	name string
	id   wire.MemberID
	meta metadata
}

// refusal is a node that is kept out, and why.
type refusal struct {
	node string
	addr netip.AddrPort
	why  error
}

// mailbox takes memberlist's callbacks. They come under memberlist's node lock, so it only copies, overwrites what was
// not yet read about the same node, and rings a bell. It never blocks and never calls back.
type mailbox struct {
	// self and loopback are this node's name and whether it advertises a loopback address; neither changes.
	self     string
	loopback bool
	// ring has room for one.
	ring chan struct{}

	mu      sync.Mutex
	seen    map[string]sighting
	refused []refusal
	// refusals counts all of them.
	refusals uint64
	// namesake is where another node of this one's name was last seen; the zero value if nowhere.
	namesake netip.AddrPort
	// suspects are news: nodes that have not answered a probe (true), or have again (false). silent are all that have not.
	suspects map[string]bool
	silent   map[string]bool

	// checked remembers the announcement or the refusal of the bytes a node last came with.
	checked map[string]check
}

type check struct {
	meta string
	told announcement
	err  error
}

func newMailbox(self string, loopback bool) *mailbox {
	return &mailbox{
		self: self, loopback: loopback, ring: make(chan struct{}, 1), seen: make(map[string]sighting),
		suspects: make(map[string]bool), silent: make(map[string]bool), checked: make(map[string]check),
	}
}

// mail is what the mailbox held when it was emptied.
type mail struct {
	seen     map[string]sighting
	refused  []refusal
	namesake netip.AddrPort
	suspects map[string]bool
}

func (b *mailbox) empty() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := mail{seen: b.seen, refused: b.refused, namesake: b.namesake, suspects: b.suspects}
	b.seen, b.refused, b.namesake = make(map[string]sighting), nil, netip.AddrPort{}
	b.suspects = make(map[string]bool)
	return m
}

func (b *mailbox) wake() {
	select {
	case b.ring <- struct{}{}:
	default:
	}
}

// NotifyAlive implements memberlist.AliveDelegate: an error keeps the node out of memberlist, and so out of what this
// member passes on.
func (b *mailbox) NotifyAlive(n *memberlist.Node) error {
	if n.Name == b.self {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err := b.check(n)
	if err != nil {
		b.refusals++
		if len(b.refused) < refusedMax {
			addr, _ := addrOf(n)
			b.refused = append(b.refused, refusal{n.Name, addr, err})
		}
		b.wake()
	}
	return err
}

// check says what a node announces, from memory if it comes with the same bytes as the last time.
func (b *mailbox) check(n *memberlist.Node) (announcement, error) {
	addr, err := addrOf(n)
	switch {
	case err != nil:
		return announcement{}, err
	case addr.Addr().IsLoopback() && !b.loopback:
		return announcement{}, errors.New("it advertises a loopback address to other hosts: start it with --advertise")
	case n.PCur != memberlist.ProtocolVersion2Compatible || n.PMin > n.PCur || n.PMax < n.PCur || n.DMin|n.DMax|n.DCur != 0:
		// One such node in memberlist's table, and every full sync fails for want of a version that all speak.
		return announcement{}, errors.New("it speaks another version of gossip")
	}
	if c, ok := b.checked[n.Name]; ok && c.meta == string(n.Meta) {
		return c.told, c.err
	}
	if len(b.checked) >= checkedMax {
		clear(b.checked)
	}
	told, err := parseAnnouncement(n.Name, n.Meta)
	b.checked[n.Name] = check{string(n.Meta), told, err}
	return told, err
}

func parseAnnouncement(node string, meta []byte) (a announcement, err error) {
	if a.name, a.id, err = parseNodeName(node); err != nil {
		return a, err
	}
	if a.meta, err = parseMetadata(meta); err != nil {
		return a, err
	}
	if wire.MemberIDOf(a.meta.key) != a.id {
		return a, errors.New("its key does not belong to its identity")
	}
	return a, nil
}

// addrOf refuses addresses nobody can send to.
func addrOf(n *memberlist.Node) (netip.AddrPort, error) {
	ip, ok := netip.AddrFromSlice(n.Addr)
	ip = ip.Unmap()
	if !ok || ip.IsUnspecified() || ip.IsMulticast() || n.Port == 0 {
		return netip.AddrPort{}, errors.New("an address nobody can send to")
	}
	return netip.AddrPortFrom(ip, n.Port), nil
}

// NotifyJoin implements memberlist.EventDelegate.
func (b *mailbox) NotifyJoin(n *memberlist.Node) { b.saw(n, false) }

// NotifyUpdate implements memberlist.EventDelegate.
func (b *mailbox) NotifyUpdate(n *memberlist.Node) { b.saw(n, false) }

// NotifyLeave implements memberlist.EventDelegate; it is called for members that left and for members that failed.
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
	addr, _ := addrOf(n)
	b.seen[n.Name] = sighting{node: n.Name, addr: addr, told: told, gone: gone}
	b.wake()
}

// NotifyConflict implements memberlist.ConflictDelegate: two addresses claim one node name. Only this node's own name is
// of interest: others' conflicts are reported by them.
func (b *mailbox) NotifyConflict(existing, other *memberlist.Node) {
	if existing.Name != b.self {
		return
	}
	addr, err := addrOf(other)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.namesake = addr
	b.wake()
}

// suspect notes whether a node failed to answer its last probe.
func (b *mailbox) suspect(node string, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed && !b.silent[node] {
		return // the common case: it answers as it did before
	}
	if failed {
		b.silent[node] = true
	} else {
		delete(b.silent, node)
	}
	b.suspects[node] = failed
	b.wake()
}

// delegate implements memberlist.Delegate; only metadata is of use to us.
type delegate struct{ m *Membership }

// NodeMeta implements memberlist.Delegate.
func (d delegate) NodeMeta(int) []byte { return d.m.roster.metadata() }

// NotifyMsg implements memberlist.Delegate.
func (d delegate) NotifyMsg([]byte) {}

// GetBroadcasts implements memberlist.Delegate.
func (d delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState implements memberlist.Delegate.
func (d delegate) LocalState(bool) []byte { return d.m.twins.claim() }

// MergeRemoteState implements memberlist.Delegate.
func (d delegate) MergeRemoteState(b []byte, _ bool) { d.m.twins.heard(b) }

// pings implements memberlist.PingDelegate.
type pings struct{ m *Membership }

// AckPayload implements memberlist.PingDelegate: every answer to a probe carries this host's wall clock.
func (p pings) AckPayload() []byte { return p.m.clock.stamp() }

// NotifyPingComplete implements memberlist.PingDelegate.
func (p pings) NotifyPingComplete(n *memberlist.Node, rtt time.Duration, payload []byte) {
	p.m.onPing(n, rtt, payload)
}
