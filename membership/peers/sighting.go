package peers

import (
	"errors"
	"net/netip"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// Sighting is the last report of memberlist about a node.
type Sighting struct {
	// Member, counter and leaving are the content of the node's name and metadata.
	Member
	Counter uint64
	leaving bool
	// Gone is true if memberlist last reported the member as gone, leaving if the member itself has announced that it
	// leaves.
	Gone bool
}

// RefusedNode is a node that was refused, and the reason.
type RefusedNode struct {
	Node string
	Addr netip.AddrPort
	Why  error
}

// Reports is everything that has come since the mailbox was emptied.
type Reports struct {
	Seen    map[string]Sighting // by node name
	Refused []RefusedNode
	// Namesake is the last address of another node with this one's name, Duplicate the last address of another node
	// with this one's identity; the zero value if there is none.
	Namesake, Duplicate netip.AddrPort
	// Suspects are the changes: nodes that have not answered a probe (true), or answer again (false).
	Suspects map[string]bool
	// Own is the highest counter that the fleet has of this member, since the start.
	Own uint64
}

// NewReports returns empty reports. own is the highest counter that the fleet has of this member.
func NewReports(own uint64) Reports {
	return Reports{Seen: make(map[string]Sighting), Suspects: make(map[string]bool), Own: own}
}

// ParseAnnouncement returns the content of a node's name, metadata and address, if the member itself has signed them.
func ParseAnnouncement(node string, meta []byte, addr netip.AddrPort) (s Sighting, err error) {
	name, id, err := identity.ParseNodeName(node)
	if err != nil {
		return s, err
	}
	m, err := ParseMetadata(meta)
	switch {
	case err != nil:
		return s, err
	case wire.MemberIDOf(m.Key) != id:
		return s, errors.New("its key does not belong to its identity")
	case !vouched(meta, m.Key, node, addr):
		return s, errors.New("its key did not sign this: somebody else says it")
	}
	return Sighting{
		Member: Member{ID: id, Name: name, Key: m.Key, Addr: addr, Gates: m.Gates}, Counter: m.Counter,
		leaving: m.Leaving,
	}, nil
}
