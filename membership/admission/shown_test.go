package admission

import (
	"bytes"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// FuzzCertificates: each list that is read has exactly one encoding, and nothing that another member shows is believed.
func FuzzCertificates(f *testing.F) {
	one, two := Shown{"host1", peertest.KeyOf(1), peertest.Lasting(1)}, Shown{
		"host2", peertest.KeyOf(2), peertest.Issued("other", 2, peertest.FarFuture()),
	}
	f.Add(two.Append(one.Append(nil)))
	f.Add(one.Append(nil)[:40])
	f.Add(AppendWanted(nil, []wire.MemberID{{1}, {2}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ids, err := ParseWanted(b); err == nil && !bytes.Equal(AppendWanted(nil, ids), b) {
			t.Errorf("%x is read as %v", b, ids)
		}
		list, err := ParseShown(b)
		if err != nil {
			return
		}
		a := New(&peertest.Office{Authorities: []string{"ca"}})
		var again []byte
		for _, c := range list {
			again = c.Append(again)
			if a.Vouch(c.Name, wire.MemberIDOf(c.Key), c.Key, c.Certificate, true) &&
				!bytes.HasPrefix(c.Certificate, []byte("ca "+wire.MemberIDOf(c.Key).String()+" "+c.Name)) {
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
