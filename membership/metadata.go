package membership

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/wire"
)

const (
	// MaxGates is the largest number of gates of one agent: their tags must fit into the metadata.
	MaxGates = 15
	// MaxName is the longest name of a member, in bytes.
	MaxName = 64

	// metadataVersion is the version of a member without a roster: members that know no rosters read it, too.
	metadataVersion = 2
	rosterVersion   = 3
	metadataLeaving = 0x80
	metadataHeader  = 1 + ed25519.PublicKeySize + 8
	metadataLeast   = metadataHeader + ed25519.SignatureSize
	markSize        = 2
	rosterSize      = 8
	metadataMax     = metadataLeast + (markSize+rosterSize)*MaxGates

	// metadataContext keeps a signature from meaning anything else.
	metadataContext = "wanderd announcement v2"
)

// gateMark is one gate in the metadata: a 15-bit tag, and the lowest bit is set if the member has met a token of the gate.
type gateMark uint16

func markOf(g wire.GateID) gateMark { return gateMark(g>>49) << 1 }

func (m gateMark) tag() gateMark { return m &^ 1 }
func (m gateMark) met() bool     { return m&1 != 0 }

// metadata is the information that a member gossips about itself.
type metadata struct {
	leaving bool
	key     ed25519.PublicKey
	// counter rises with every change: of two announcements of one member, the one with the higher counter counts.
	counter uint64
	gates   []gateMark // ascending by tag, each once
	// rosters are the hashes of the gates' rosters, zero for a gate that has none; nil if no gate has one.
	rosters []uint64
}

// newMetadata refuses two gates with the same tag.
func newMetadata(key ed25519.PublicKey, gates []wire.GateID) (metadata, error) {
	m := metadata{key: key}
	if len(gates) > MaxGates {
		return m, fmt.Errorf("%d gates, but one agent can have at most %d: run a second agent for the rest", len(gates), MaxGates)
	}
	for _, g := range gates {
		m.gates = append(m.gates, markOf(g))
	}
	slices.Sort(m.gates)
	for i := 1; i < len(m.gates); i++ {
		if m.gates[i] == m.gates[i-1] {
			return m, fmt.Errorf("two gates of this agent have the same tag in gossip (%04x): rename one of them", m.gates[i]>>1)
		}
	}
	return m, nil
}

// find returns the index of a gate among those of a member, -1 if the member does not take part in it.
func find(gates []gateMark, tag gateMark) int {
	return slices.IndexFunc(gates, func(mark gateMark) bool { return mark.tag() == tag })
}

// announce records that this member has met a token of gate g, and reports whether that is a change.
func (m *metadata) announce(g wire.GateID) bool {
	at := find(m.gates, markOf(g))
	if at < 0 || m.gates[at].met() {
		return false
	}
	m.gates = slices.Clone(m.gates) // views share the old ones
	m.gates[at] |= 1
	return true
}

// declare records the hash of the roster of gate g, and reports whether that is a change.
func (m *metadata) declare(g wire.GateID, hash uint64) bool {
	at := find(m.gates, markOf(g))
	if at < 0 || m.rosters != nil && m.rosters[at] == hash {
		return false
	}
	rosters := make([]uint64, len(m.gates)) // views share the old ones
	copy(rosters, m.rosters)
	rosters[at] = hash
	m.rosters = rosters
	return true
}

// encode writes and signs the metadata of a node with this name and address.
func (m *metadata) encode(private ed25519.PrivateKey, node string, addr netip.AddrPort) []byte {
	b := m.appendUnsigned(make([]byte, 0, metadataMax))
	return append(b, signAs(private, statement(node, addr, b), metadataContext)...)
}

// statement is what a member signs: its node name, its address, and its metadata.
func statement(node string, addr netip.AddrPort, unsigned []byte) []byte {
	b := append([]byte{byte(len(node))}, node...)
	host := addr.Addr().As16()
	b = append(b, host[:]...)
	b = binary.BigEndian.AppendUint16(b, addr.Port())
	return append(b, unsigned...)
}

// vouched reports whether the owner of the key in metadata b, which parses, has signed it for a node with this name and address.
func vouched(b []byte, key ed25519.PublicKey, node string, addr netip.AddrPort) bool {
	at := len(b) - ed25519.SignatureSize
	return isSigned(key, statement(node, addr, b[:at]), b[at:], metadataContext)
}

func (m *metadata) appendUnsigned(b []byte) []byte {
	first := byte(metadataVersion)
	if m.rosters != nil {
		first = rosterVersion
	}
	if m.leaving {
		first |= metadataLeaving
	}
	b = append(b, first)
	b = append(b, m.key...)
	b = binary.BigEndian.AppendUint64(b, m.counter)
	for i, mark := range m.gates {
		b = binary.BigEndian.AppendUint16(b, uint16(mark))
		if m.rosters != nil {
			b = binary.BigEndian.AppendUint64(b, m.rosters[i])
		}
	}
	return b
}

// parseMetadata accepts only bytes that encode can write, so one content has one encoding. The result shares no memory with b.
func parseMetadata(b []byte) (metadata, error) {
	var m metadata
	if len(b) == 0 {
		return m, errors.New("no metadata: it is not a wanderd")
	}
	size, version := markSize, b[0]&^metadataLeaving
	if version == rosterVersion {
		size += rosterSize
	}
	switch {
	case version != metadataVersion && version != rosterVersion:
		return m, fmt.Errorf("metadata of version %d, want %d or %d", version, metadataVersion, rosterVersion)
	case len(b) < metadataLeast || len(b) > metadataLeast+size*MaxGates || (len(b)-metadataLeast)%size != 0:
		return m, fmt.Errorf("metadata of %d bytes", len(b))
	}
	m.leaving = b[0]&metadataLeaving != 0
	m.key = slices.Clone(ed25519.PublicKey(b[1 : 1+ed25519.PublicKeySize]))
	m.counter = binary.BigEndian.Uint64(b[1+ed25519.PublicKeySize:])
	none := true
	for rest := b[metadataHeader : len(b)-ed25519.SignatureSize]; len(rest) > 0; rest = rest[size:] {
		mark := gateMark(binary.BigEndian.Uint16(rest))
		if n := len(m.gates); n > 0 && m.gates[n-1].tag() >= mark.tag() {
			return m, errors.New("metadata whose gates are not in order")
		}
		m.gates = append(m.gates, mark)
		if version == rosterVersion {
			m.rosters = append(m.rosters, binary.BigEndian.Uint64(rest[markSize:]))
			none = none && m.rosters[len(m.rosters)-1] == 0
		}
	}
	if version == rosterVersion && none {
		return m, errors.New("metadata of rosters without one")
	}
	return m, nil
}

// nodeName is a member's name in gossip.
func nodeName(name string, id wire.MemberID) string { return name + "~" + id.String() }

// parseNodeName is the inverse of nodeName.
func parseNodeName(s string) (name string, id wire.MemberID, err error) {
	at := strings.LastIndexByte(s, '~')
	if at < 0 {
		return "", id, errors.New("no identity in its name: it is not a wanderd")
	}
	if id, err = wire.ParseMemberID(s[at+1:]); err != nil {
		return "", id, err
	}
	if s != nodeName(s[:at], id) {
		return "", id, errors.New("identity in capital letters")
	}
	return s[:at], id, validName(s[:at])
}

// validName refuses names that a terminal or a log line could not show.
func validName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxName:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), MaxName)
	case !printable([]byte(name)):
		return fmt.Errorf("the name has characters that cannot be printed: %q", name)
	}
	return nil
}
