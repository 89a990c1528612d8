package peers

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

	// metadataVersion is the version of a member that declares nothing of its gates, declaredVersion of one that does,
	// standingVersion of one that also announces where it stands.
	metadataVersion = 2
	declaredVersion = 3
	standingVersion = 4
	metadataLeaving = 0x80
	metadataHeader  = 1 + ed25519.PublicKeySize + 8
	metadataLeast   = metadataHeader + ed25519.SignatureSize
	markSize        = 2
	declaredSize    = 8
	standingSize    = 1
	metadataMax     = metadataLeast + (markSize+declaredSize+standingSize)*identity.MaxGates

	// metadataContext keeps a signature from being valid for anything else.
	metadataContext = "wanderd announcement v2"
)

// gateMark is one gate in the metadata.
type gateMark struct {
	tag      uint16 // the top 15 bits of its identity
	met      bool   // the member has met a token of it
	declared uint64 // what the member has declared of it, zero if nothing
	standing uint8  // where the member says that it stands in it, zero if it says nothing
}

func tagOf(g wire.GateID) uint16 { return uint16(g >> (64 - wire.TagBits)) }

// Metadata is the information that a member gossips about itself.
type Metadata struct {
	Leaving bool
	Key     ed25519.PublicKey
	// Counter rises with every change: of two announcements of one member, the one with the higher counter counts.
	Counter uint64
	Gates   []gateMark // ascending by tag, each once
}

// version is the version with the least that can be said in it.
func (m *Metadata) version() byte {
	switch {
	case slices.ContainsFunc(m.Gates, func(mark gateMark) bool { return mark.standing != 0 }):
		return standingVersion
	case slices.ContainsFunc(m.Gates, func(mark gateMark) bool { return mark.declared != 0 }):
		return declaredVersion
	}
	return metadataVersion
}

// NewMetadata refuses two gates with the same tag.
func NewMetadata(key ed25519.PublicKey, gates []wire.GateID) (Metadata, error) {
	m := Metadata{Key: key}
	if len(gates) > identity.MaxGates {
		return m, fmt.Errorf("%d gates, but one agent can have at most %d: run a second agent for the rest", len(gates),
			identity.MaxGates)
	}
	for _, g := range gates {
		m.Gates = append(m.Gates, gateMark{tag: tagOf(g)})
	}
	slices.SortFunc(m.Gates, func(a, b gateMark) int { return cmp.Compare(a.tag, b.tag) })
	for i := 1; i < len(m.Gates); i++ {
		if m.Gates[i] == m.Gates[i-1] {
			return m, fmt.Errorf("two gates of this agent have the same tag in gossip (%04x): rename one of them",
				m.Gates[i].tag)
		}
	}
	return m, nil
}

// find returns the index of a gate among those of a member; -1 if the member does not take part in it.
func find(gates []gateMark, g wire.GateID) int {
	return slices.IndexFunc(gates, func(mark gateMark) bool { return mark.tag == tagOf(g) })
}

// Announce records that this member has met a token of gate g, and reports whether that is a change.
func (m *Metadata) Announce(g wire.GateID) bool {
	at := find(m.Gates, g)
	if at < 0 || m.Gates[at].met {
		return false
	}
	m.Gates = slices.Clone(m.Gates) // views share the old ones
	m.Gates[at].met = true
	return true
}

// Declare records what this member declares of gate g, and reports whether that is a change.
func (m *Metadata) Declare(g wire.GateID, what uint64) bool {
	at := find(m.Gates, g)
	if at < 0 || m.Gates[at].declared == what {
		return false
	}
	m.Gates = slices.Clone(m.Gates) // views share the old ones
	m.Gates[at].declared = what
	return true
}

// Stand records where this member stands in gate g, and reports whether that is a change.
func (m *Metadata) Stand(g wire.GateID, where uint8) bool {
	at := find(m.Gates, g)
	if at < 0 || m.Gates[at].standing == where {
		return false
	}
	m.Gates = slices.Clone(m.Gates) // views share the old ones
	m.Gates[at].standing = where
	return true
}

// Encode writes and signs the metadata of a node with this name and address.
func (m *Metadata) Encode(private ed25519.PrivateKey, node string, addr netip.AddrPort) []byte {
	b := m.appendUnsigned(make([]byte, 0, metadataMax))
	return append(b, identity.Sign(private, statement(node, addr, b), metadataContext)...)
}

// statement returns what a member signs: its node name, its address, and its metadata.
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

func (m *Metadata) appendUnsigned(b []byte) []byte {
	version := m.version()
	b = append(b, version)
	if m.Leaving {
		b[len(b)-1] |= metadataLeaving
	}
	b = append(b, m.Key...)
	b = binary.BigEndian.AppendUint64(b, m.Counter)
	for _, mark := range m.Gates {
		tag := mark.tag << 1
		if mark.met {
			tag |= 1
		}
		b = binary.BigEndian.AppendUint16(b, tag)
		if version >= declaredVersion {
			b = binary.BigEndian.AppendUint64(b, mark.declared)
		}
		if version == standingVersion {
			b = append(b, mark.standing)
		}
	}
	return b
}

// ParseMetadata accepts only bytes that encode can write, so each content has exactly one encoding. The result shares
// no memory with b.
func ParseMetadata(b []byte) (Metadata, error) {
	var m Metadata
	if len(b) == 0 {
		return m, errors.New("no metadata: it is not a wanderd")
	}
	size, version := markSize, b[0]&^metadataLeaving
	if version >= declaredVersion {
		size += declaredSize
	}
	if version == standingVersion {
		size += standingSize
	}
	switch {
	case version < metadataVersion || version > standingVersion:
		return m, fmt.Errorf("metadata of version %d, want %d to %d", version, metadataVersion, standingVersion)
	case len(b) < metadataLeast || len(b) > metadataLeast+size*identity.MaxGates || (len(b)-metadataLeast)%size != 0:
		return m, fmt.Errorf("metadata of %d bytes", len(b))
	}
	m.Leaving = b[0]&metadataLeaving != 0
	m.Key = slices.Clone(ed25519.PublicKey(b[1 : 1+ed25519.PublicKeySize]))
	m.Counter = binary.BigEndian.Uint64(b[1+ed25519.PublicKeySize:])
	for rest := b[metadataHeader : len(b)-ed25519.SignatureSize]; len(rest) > 0; rest = rest[size:] {
		tag := binary.BigEndian.Uint16(rest)
		mark := gateMark{tag: tag >> 1, met: tag&1 != 0}
		if n := len(m.Gates); n > 0 && m.Gates[n-1].tag >= mark.tag {
			return m, errors.New("metadata whose gates are not in order")
		}
		if version >= declaredVersion {
			mark.declared = binary.BigEndian.Uint64(rest[markSize:])
		}
		if version == standingVersion {
			mark.standing = rest[markSize+declaredSize]
		}
		m.Gates = append(m.Gates, mark)
	}
	if version != m.version() {
		return m, errors.New("metadata that says less than its version does")
	}
	return m, nil
}

// Keep takes over what the previous announcement contains about the gates that stay.
func (m *Metadata) Keep(before *Metadata) {
	m.Leaving, m.Counter = before.Leaving, before.Counter
	for i, mark := range m.Gates {
		for _, was := range before.Gates {
			if was.tag == mark.tag {
				m.Gates[i] = was
			}
		}
	}
}

// Announce records that this member has met a token of gate g, and reports whether that is a change.
func (t *Table) Announce(g wire.GateID) bool {
	return t.change(func(m *Metadata) bool { return m.Announce(g) })
}

// Declare records what this member declares of gate g, and reports whether that is a change.
func (t *Table) Declare(g wire.GateID, what uint64) bool {
	return t.change(func(m *Metadata) bool { return m.Declare(g, what) })
}

// Stand records where this member stands in gate g, and reports whether that is a change.
func (t *Table) Stand(g wire.GateID, where uint8) bool {
	return t.change(func(m *Metadata) bool { return m.Stand(g, where) })
}

// Outbid raises the counter above that of a former life, and reports whether that is a change.
func (t *Table) Outbid(counter uint64) bool {
	return t.change(func(m *Metadata) bool {
		behind := counter > m.Counter
		m.Counter = max(m.Counter, counter)
		return behind
	})
}

// Leave records that this member leaves.
func (t *Table) Leave() {
	t.change(func(m *Metadata) bool {
		m.Leaving = true
		return true
	})
}

// SetGates replaces the gates of this member. For the gates that stay, it keeps what this member has announced. On an
// error nothing changes.
func (t *Table) SetGates(gates []wire.GateID) error {
	next, err := NewMetadata(t.Me.Key, gates)
	if err != nil {
		return err
	}
	t.change(func(m *Metadata) bool {
		next.Keep(m)
		*m, t.gates = next, gates
		return true
	})
	return nil
}
