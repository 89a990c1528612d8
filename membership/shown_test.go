package membership

import (
	"bytes"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// FuzzCertificates: what is read has one writing, and nothing that another member shows is believed.
func FuzzCertificates(f *testing.F) {
	one, two := shown{"host1", peertest.KeyOf(1), peertest.Lasting(1)}, shown{"host2", peertest.KeyOf(2), peertest.Issued("other", 2, peertest.FarFuture())}
	f.Add(two.append(one.append(nil)))
	f.Add(one.append(nil)[:40])
	f.Add(appendWanted(nil, []wire.MemberID{{1}, {2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ids, err := parseWanted(b); err == nil && !bytes.Equal(appendWanted(nil, ids), b) {
			t.Errorf("%x is read as %v", b, ids)
		}
		list, err := parseShown(b)
		if err != nil {
			return
		}
		a := newAdmission(&peertest.Office{Authorities: []string{"ca"}})
		var again []byte
		for _, c := range list {
			again = c.append(again)
			if a.vouch(c.name, wire.MemberIDOf(c.key), c.key, c.certificate, true) && !bytes.HasPrefix(c.certificate, []byte("ca "+wire.MemberIDOf(c.key).String()+" "+c.name)) {
				t.Errorf("%+v is believed", c)
			}
		}
		if !bytes.Equal(again, b) {
			t.Errorf("%x is written again as %x", b, again)
		}
		if len(a.members) > len(list) {
			t.Errorf("%d members", len(a.members))
		}
	})
}
