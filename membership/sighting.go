package membership

import (
	"errors"
	"net/netip"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// sighting is the last report of memberlist about a node.
type sighting struct {
	// Member, counter and leaving are the content of the node's name and metadata.
	Member
	counter uint64
	leaving bool
	// gone is memberlist's last word on the member, leaving the member's own last word.
	gone bool
}

// refusal is a node that was refused, and the reason.
type refusal struct {
	node string
	addr netip.AddrPort
	why  error
}

// mail is what has come since the mailbox was emptied.
type mail struct {
	seen    map[string]sighting // by node name
	refused []refusal
	// namesake is the last address of another node with this one's name, duplicate the last address of another node
	// with this one's identity; the zero value if there is none.
	namesake, duplicate netip.AddrPort
	// suspects are the changes: nodes that have not answered a probe (true), or answer again (false).
	suspects map[string]bool
	// own is the highest counter that the fleet has of this member, since the start.
	own uint64
}

func newMail(own uint64) mail {
	return mail{seen: make(map[string]sighting), suspects: make(map[string]bool), own: own}
}

func parseAnnouncement(node string, meta []byte, addr netip.AddrPort) (s sighting, err error) {
	name, id, err := identity.ParseNodeName(node)
	if err != nil {
		return s, err
	}
	m, err := parseMetadata(meta)
	switch {
	case err != nil:
		return s, err
	case wire.MemberIDOf(m.key) != id:
		return s, errors.New("its key does not belong to its identity")
	case !vouched(meta, m.key, node, addr):
		return s, errors.New("its key did not sign this: somebody else says it")
	}
	return sighting{Member: Member{ID: id, Name: name, Key: m.key, Addr: addr, gates: m.gates}, counter: m.counter, leaving: m.leaving}, nil
}
