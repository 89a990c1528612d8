package peers

import (
	"bytes"
	"testing"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// FuzzAnnouncement: only a member's key speaks for the member, and each announcement that is read has exactly one
// encoding.
func FuzzAnnouncement(f *testing.F) {
	node := identity.NodeName("host1", wire.MemberIDOf(peertest.KeyOf(1)))
	meta, err := NewMetadata(peertest.KeyOf(1), []wire.GateID{gateA, gateB})
	if err != nil {
		f.Fatal(err)
	}
	signed := meta.Encode(peertest.PrivateOf(1), node, peertest.AddrOf(1))
	f.Add(node, signed, uint16(1))
	f.Add(node, signed[:len(signed)-1], uint16(1))
	f.Add("~"+node, signed, uint16(2))
	f.Fuzz(func(t *testing.T, said string, b []byte, host uint16) {
		told, err := ParseAnnouncement(said, b, peertest.AddrOf(int(host)))
		if err == nil && (said != node || !bytes.Equal(b, signed) || host != 1) {
			t.Errorf("%q says %+v", said, told)
		}
		if m, err := ParseMetadata(b); err == nil {
			if again := m.appendUnsigned(nil); !bytes.HasPrefix(b, again) {
				t.Errorf("%x is written again as %x", b, again)
			}
		}
	})
}
