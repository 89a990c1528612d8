package membership

import (
	"cmp"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

const (

	// metadataVersion is the version of a member without a roster: members that know no rosters read it, too.
	metadataVersion = 2
	rosterVersion   = 3
	metadataLeaving = 0x80
	metadataHeader  = 1 + ed25519.PublicKeySize + 8
	metadataLeast   = metadataHeader + ed25519.SignatureSize
	markSize        = 2
	rosterSize      = 8
	metadataMax     = metadataLeast + (markSize+rosterSize)*identity.MaxGates

	// metadataContext keeps a signature from meaning anything else.
	metadataContext = "wanderd announcement v2"
)

// gateMark is one gate in the metadata.
type gateMark struct {
	tag    uint16 // the top 15 bits of its identity
	met    bool   // the member has met a token of it
	roster uint64 // the hash of its roster, zero if it has none
}

func tagOf(g wire.GateID) uint16 { return uint16(g >> 49) }

// metadata is the information that a member gossips about itself.
type metadata struct {
	leaving bool
	key     ed25519.PublicKey
	// counter rises with every change: of two announcements of one member, the one with the higher counter counts.
	counter uint64
	gates   []gateMark // ascending by tag, each once
}

func (m *metadata) hasRosters() bool {
	return slices.ContainsFunc(m.gates, func(mark gateMark) bool { return mark.roster != 0 })
}

// newMetadata refuses two gates with the same tag.
func newMetadata(key ed25519.PublicKey, gates []wire.GateID) (metadata, error) {
	m := metadata{key: key}
	if len(gates) > identity.MaxGates {
		return m, fmt.Errorf("%d gates, but one agent can have at most %d: run a second agent for the rest", len(gates), identity.MaxGates)
	}
	for _, g := range gates {
		m.gates = append(m.gates, gateMark{tag: tagOf(g)})
	}
	slices.SortFunc(m.gates, func(a, b gateMark) int { return cmp.Compare(a.tag, b.tag) })
	for i := 1; i < len(m.gates); i++ {
		if m.gates[i] == m.gates[i-1] {
			return m, fmt.Errorf("two gates of this agent have the same tag in gossip (%04x): rename one of them", m.gates[i].tag)
		}
	}
	return m, nil
}

// find returns the index of a gate among those of a member, -1 if the member does not take part in it.
func find(gates []gateMark, g wire.GateID) int {
	return slices.IndexFunc(gates, func(mark gateMark) bool { return mark.tag == tagOf(g) })
}

// announce records that this member has met a token of gate g, and reports whether that is a change.
func (m *metadata) announce(g wire.GateID) bool {
	at := find(m.gates, g)
	if at < 0 || m.gates[at].met {
		return false
	}
	m.gates = slices.Clone(m.gates) // views share the old ones
	m.gates[at].met = true
	return true
}

// declare records the hash of the roster of gate g, and reports whether that is a change.
func (m *metadata) declare(g wire.GateID, hash uint64) bool {
	at := find(m.gates, g)
	if at < 0 || m.gates[at].roster == hash {
		return false
	}
	m.gates = slices.Clone(m.gates) // views share the old ones
	m.gates[at].roster = hash
	return true
}

// encode writes and signs the metadata of a node with this name and address.
func (m *metadata) encode(private ed25519.PrivateKey, node string, addr netip.AddrPort) []byte {
	b := m.appendUnsigned(make([]byte, 0, metadataMax))
	return append(b, identity.Sign(private, statement(node, addr, b), metadataContext)...)
}

// statement is what a member signs: its node name, its address, and its metadata.
func statement(node string, addr netip.AddrPort, unsigned []byte) []byte {
	b := append([]byte{byte(len(node))}, node...)
	host := addr.Addr().As16()
	b = append(b, host[:]...)
	b = binary.BigEndian.AppendUint16(b, addr.Port())
	return append(b, unsigned...)
}

// vouched reports whether the owner of the key in metadata b, which parses, has signed it for a node with this name and
// address.
func vouched(b []byte, key ed25519.PublicKey, node string, addr netip.AddrPort) bool {
	at := len(b) - ed25519.SignatureSize
	return identity.IsSigned(key, statement(node, addr, b[:at]), b[at:], metadataContext)
}

func (m *metadata) appendUnsigned(b []byte) []byte {
	first, rosters := byte(metadataVersion), m.hasRosters()
	if rosters {
		first = rosterVersion
	}
	if m.leaving {
		first |= metadataLeaving
	}
	b = append(b, first)
	b = append(b, m.key...)
	b = binary.BigEndian.AppendUint64(b, m.counter)
	for _, mark := range m.gates {
		tag := mark.tag << 1
		if mark.met {
			tag |= 1
		}
		b = binary.BigEndian.AppendUint16(b, tag)
		if rosters {
			b = binary.BigEndian.AppendUint64(b, mark.roster)
		}
	}
	return b
}

// parseMetadata accepts only bytes that encode can write, so one content has one encoding. The result shares no memory
// with b.
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
	case len(b) < metadataLeast || len(b) > metadataLeast+size*identity.MaxGates || (len(b)-metadataLeast)%size != 0:
		return m, fmt.Errorf("metadata of %d bytes", len(b))
	}
	m.leaving = b[0]&metadataLeaving != 0
	m.key = slices.Clone(ed25519.PublicKey(b[1 : 1+ed25519.PublicKeySize]))
	m.counter = binary.BigEndian.Uint64(b[1+ed25519.PublicKeySize:])
	for rest := b[metadataHeader : len(b)-ed25519.SignatureSize]; len(rest) > 0; rest = rest[size:] {
		tag := binary.BigEndian.Uint16(rest)
		mark := gateMark{tag: tag >> 1, met: tag&1 != 0}
		if n := len(m.gates); n > 0 && m.gates[n-1].tag >= mark.tag {
			return m, errors.New("metadata whose gates are not in order")
		}
		if version == rosterVersion {
			mark.roster = binary.BigEndian.Uint64(rest[markSize:])
		}
		m.gates = append(m.gates, mark)
	}
	if version == rosterVersion && !m.hasRosters() {
		return m, errors.New("metadata of rosters without one")
	}
	return m, nil
}

// keep takes over what the previous announcement says of the gates that stay.
func (m *metadata) keep(before *metadata) {
	m.leaving, m.counter = before.leaving, before.counter
	for i, mark := range m.gates {
		for _, was := range before.gates {
			if was.tag == mark.tag {
				m.gates[i] = was
			}
		}
	}
}

// announce records that this member has met a token of gate g, and reports whether that is a change.
func (t *peerTable) announce(g wire.GateID) bool {
	return t.change(func(m *metadata) bool { return m.announce(g) })
}

// declare records the hash of the roster of gate g, and reports whether that is a change.
func (t *peerTable) declare(g wire.GateID, hash uint64) bool {
	return t.change(func(m *metadata) bool { return m.declare(g, hash) })
}

// outbid raises the counter above that of a former life, and reports whether that is a change.
func (t *peerTable) outbid(counter uint64) bool {
	return t.change(func(m *metadata) bool {
		behind := counter > m.counter
		m.counter = max(m.counter, counter)
		return behind
	})
}

// leave records that this member leaves.
func (t *peerTable) leave() {
	t.change(func(m *metadata) bool {
		m.leaving = true
		return true
	})
}

// setGates replaces the gates of this member. It still announces what it has announced of the gates that stay. On an
// error nothing changes.
func (t *peerTable) setGates(gates []wire.GateID) error {
	next, err := newMetadata(t.me.Key, gates)
	if err != nil {
		return err
	}
	t.change(func(m *metadata) bool {
		next.keep(m)
		*m, t.gates = next, gates
		return true
	})
	return nil
}
