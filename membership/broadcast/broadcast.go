// Package broadcast spreads a directive to all members of a gate, or one about a member, by gossip: what the directive
// says, who has signed it, and which directive replaces which.
//
// Its decisions, in docs/decisions: 108.
package broadcast

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// Broadcast is a directive to a gate, with details for people. Gossip spreads the newest one of each gate to all
// members that take part in it: by packets within a second or two, and with every full sync.
type Broadcast struct {
	Gate wire.GateID
	// Member is set instead of Gate if the directive is about a member, whose name is Name: it is forgotten while
	// Directive.Until is not zero.
	Member    wire.MemberID
	Name      string
	Directive wire.Directive
	// Who is the giver of the directive, and Reason its reason, both for people: printable, at most [MaxWho] and
	// [MaxReason] bytes. Both are empty if the member that signs the broadcast has learned of the directive from
	// another one.
	Who, Reason string
}

const (
	// MaxWho bounds the giver of a directive, a user at a host, in bytes.
	MaxWho = 2 * identity.MaxName
	// MaxReason bounds the reason of a directive, in bytes.
	MaxReason = 200
)

// A broadcast in gossip:
//
//	 0 +--------------------------+
//	   | version               1  |
//	 1 +--------------------------+
//	   | gate                  8  |
//	 9 +--------------------------+
//	   | directive            32  |  see package wire
//	41 +--------------------------+
//	   | key                  32  |  of the member that signs
//	73 +--------------------------+
//	   | name, who, reason   3+…  |  a length of one byte each; the name is that of the member that signs
//	   +--------------------------+
//	   | signature            64  |
//	   +--------------------------+
//
// A broadcast about a member has version 2, the member's identity (16) in place of the gate, and its name as a fourth
// text.
//
// As with announcements, nobody else can give a directive in a member's name. The sender of a token vouches for the
// directive that comes with the token. So the sender, or a member that has the directive from the sender, may sign a
// broadcast of the directive, too. The giver's own broadcast replaces such a broadcast.
const (
	version     = 1
	aboutMember = 2
	context     = "wanderd order v1"
	// restSize is the length of the directive and the key.
	restSize = 32 + ed25519.PublicKeySize
	minSize  = 1 + 8 + restSize + 3 + ed25519.SignatureSize
	maxSize  = 1 + len(wire.MemberID{}) + restSize + 4 + 2*identity.MaxName + MaxWho + MaxReason + ed25519.SignatureSize
)

// Signed is a broadcast as it travels.
type Signed struct {
	Broadcast
	name   string
	key    ed25519.PublicKey
	packed []byte
}

// own reports whether the giver of the directive has signed the broadcast.
func (n *Signed) own() bool { return wire.MemberIDOf(n.key) == n.Directive.By }

// subject is what a directive is about.
type subject struct {
	gate   wire.GateID
	member wire.MemberID
}

func (n *Signed) subject() subject { return subject{n.Gate, n.Member} }

// replaces reports whether a broadcast replaces another one of the same subject.
func (n *Signed) replaces(old *Signed) bool {
	if old == nil {
		return true
	}
	newer := n.Directive.Compare(old.Directive)
	return newer > 0 || newer == 0 && n.own() && !old.own()
}

func (n *Signed) sign(private ed25519.PrivateKey) {
	b, texts := binary.BigEndian.AppendUint64([]byte{version}, uint64(n.Gate)), []string{n.name, n.Who, n.Reason}
	if !n.Member.IsZero() {
		b, texts = append([]byte{aboutMember}, n.Member[:]...), append(texts, n.Name)
	}
	b = append(n.Directive.Append(b), n.key...)
	for _, text := range texts {
		b = append(append(b, byte(len(text))), text...)
	}
	n.packed = append(b, identity.Sign(private, b, context)...)
}

var errBroadcast = errors.New("a broadcast that does not parse")

// Parse accepts only what sign can write. The result shares no memory with b. Its signature has not been
// checked.
func Parse(b []byte) (*Signed, error) {
	if len(b) < minSize || len(b) > maxSize {
		return nil, errBroadcast
	}
	n := &Signed{packed: slices.Clone(b)}
	texts, rest := []text{{&n.name, identity.MaxName}, {&n.Who, MaxWho}, {&n.Reason, MaxReason}}, n.packed[1:]
	switch b[0] {
	case version:
		n.Gate, rest = wire.GateID(binary.BigEndian.Uint64(rest)), rest[8:]
	case aboutMember:
		n.Member, rest = wire.MemberID(rest), rest[len(n.Member):]
		texts = append(texts, text{&n.Name, identity.MaxName})
	}
	if len(rest) < restSize+ed25519.SignatureSize {
		return nil, errBroadcast
	}
	var ok bool
	if n.Directive, ok = wire.ParseDirective(rest); !ok || n.Directive.Stamp == 0 || n.subject() == (subject{}) {
		return nil, errBroadcast
	}
	n.key = rest[restSize-ed25519.PublicKeySize : restSize]
	rest = rest[restSize : len(rest)-ed25519.SignatureSize]
	for _, text := range texts {
		if len(rest) == 0 || int(rest[0]) > text.most || int(rest[0]) >= len(rest) ||
			!identity.Printable(rest[1:1+rest[0]]) {
			return nil, errBroadcast
		}
		*text.into, rest = string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	}
	if len(rest) > 0 || identity.CheckName(n.name) != nil || !n.Member.IsZero() && identity.CheckName(n.Name) != nil {
		return nil, errBroadcast
	}
	return n, nil
}

// text is a text of a broadcast, and its longest length.
type text struct {
	into *string
	most int
}

func (n *Signed) vouched() bool {
	at := len(n.packed) - ed25519.SignatureSize
	return identity.IsSigned(n.key, n.packed[:at], n.packed[at:], context)
}

// Store has the newest broadcast of each gate of this member, of the other gates to which it has given directives, and
// about each member.
// It is safe for concurrent use, never blocks, and never calls memberlist back.
type Store struct {
	gates []wire.GateID
	judge identity.Judge
	// News signals that a broadcast is new; its capacity is one.
	News chan struct{}
	// fresh signals that a broadcast has to be passed on.
	fresh chan<- struct{}
	queue memberlist.TransmitLimitedQueue

	mu     sync.Mutex
	newest map[subject]*Signed
}

// MaxErrands bounds the directives to gates that this member does not have.
const MaxErrands = 30

// transmitMult is how many times a member sends a broadcast, times the logarithm of the number of members.
const transmitMult = 12

// NewStore makes the store of a member with these gates. It signals fresh when a broadcast is to be passed on.
func NewStore(gates []wire.GateID, judge identity.Judge, members func() int, fresh chan<- struct{}) *Store {
	return &Store{
		gates: gates, judge: judge, News: make(chan struct{}, 1), fresh: fresh, newest: make(map[subject]*Signed),
		queue: memberlist.TransmitLimitedQueue{NumNodes: members, RetransmitMult: transmitMult},
	}
}

// keep keeps a broadcast if it is valid and newer, and passes it on. It makes the cheap checks first.
func (k *Store) keep(n *Signed, mine bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !mine && !k.wants(n) || !n.replaces(k.newest[n.subject()]) {
		return
	}
	if !mine && (!n.vouched() || k.judge(n.name, wire.MemberIDOf(n.key), n.key, nil) != nil) {
		return
	}
	k.newest[n.subject()] = n
	k.dropOldest()
	k.queue.QueueBroadcast(n)
	k.queue.Prune(identity.MaxGates + MaxErrands + MaxForgotten)
	timing.Signal(k.News)
	timing.Signal(k.fresh)
}

// Give signs a directive, keeps it and passes it on. The error names what is too long or not printable.
func (k *Store) Give(n Broadcast, name string, private ed25519.PrivateKey) error {
	for _, text := range []struct {
		what, text string
		most       int
	}{{"who gives the directive", n.Who, MaxWho}, {"the reason", n.Reason, MaxReason}} {
		switch {
		case len(text.text) > text.most:
			return fmt.Errorf("%s has %d bytes, at most %d are allowed", text.what, len(text.text), text.most)
		case !identity.Printable([]byte(text.text)):
			return fmt.Errorf("%s has characters that cannot be printed: %q", text.what, text.text)
		}
	}
	if n.Member.IsZero() && !k.mayGo(n.Gate) {
		return fmt.Errorf("this host carries directives to %d gates that it does not have, and to no more: "+
			"give this one on a host that has the gate", MaxErrands)
	}
	signed := &Signed{Broadcast: n, name: name, key: private.Public().(ed25519.PublicKey)}
	signed.sign(private)
	k.keep(signed, true)
	return nil
}

// Errands returns the gates that this member does not have, but to which it has given directives: it alone carries such
// a directive to a member that has the gate.
func (k *Store) Errands() []wire.GateID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.errands()
}

func (k *Store) errands() []wire.GateID {
	var gates []wire.GateID
	for about := range k.newest {
		if about.member.IsZero() && !slices.Contains(k.gates, about.gate) {
			gates = append(gates, about.gate)
		}
	}
	slices.Sort(gates)
	return gates
}

// mayGo reports whether there is room for a directive to a gate.
func (k *Store) mayGo(g wire.GateID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	errands := k.errands()
	return slices.Contains(k.gates, g) || slices.Contains(errands, g) || len(errands) < MaxErrands
}

// Hear takes in a broadcast from a packet, and drops it if it does not parse.
func (k *Store) Hear(b []byte) {
	if n, err := Parse(b); err == nil {
		k.keep(n, false)
	}
}

// All returns the newest broadcast of each gate of this member.
func (k *Store) All() []Broadcast {
	k.mu.Lock()
	defer k.mu.Unlock()
	var list []Broadcast
	for _, g := range k.gates {
		if n := k.newest[subject{gate: g}]; n != nil {
			list = append(list, n.Broadcast)
		}
	}
	return list
}

// Due returns the broadcasts for a packet with this much room.
func (k *Store) Due(overhead, limit int) [][]byte { return k.queue.GetBroadcasts(overhead, limit) }

// AppendState appends the broadcasts for a full sync, each after its length.
func (k *Store) AppendState(b []byte) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, g := range slices.Concat(k.gates, k.errands()) {
		if n := k.newest[subject{gate: g}]; n != nil {
			b = n.appendTo(b)
		}
	}
	for _, n := range k.members() {
		b = n.appendTo(b)
	}
	return b
}

func (n *Signed) appendTo(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(n.packed))), n.packed...)
}

// HearState takes in the broadcasts of a full sync, at most as many as a member can have.
func (k *Store) HearState(b []byte) {
	for range identity.MaxGates + MaxErrands + MaxForgotten {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return
		}
		end := 2 + int(binary.BigEndian.Uint16(b))
		k.Hear(b[2:end])
		b = b[end:]
	}
}

// Invalidates implements memberlist.Broadcast: a newer broadcast of a subject replaces an older one.
func (n *Signed) Invalidates(other memberlist.Broadcast) bool {
	o, ok := other.(*Signed)
	return ok && o.subject() == n.subject()
}

// Message implements memberlist.Broadcast.
func (n *Signed) Message() []byte { return n.packed }

// Finished implements memberlist.Broadcast.
func (*Signed) Finished() {}

// SetGates forgets the broadcasts of gates that this member no longer has.
func (k *Store) SetGates(gates []wire.GateID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	errands := k.errands()
	k.gates = gates
	maps.DeleteFunc(k.newest, func(about subject, _ *Signed) bool {
		return about.member.IsZero() && !slices.Contains(gates, about.gate) && !slices.Contains(errands, about.gate)
	})
}
