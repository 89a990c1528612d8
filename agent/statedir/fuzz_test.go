package statedir

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
)

// FuzzRecord: a state file is read as it would be written, or refused.
func FuzzRecord(f *testing.F) {
	for _, r := range []Record{
		{}, {HasRun: true, Seq: 7, Boot: "b", Protocol: "wander", ProtocolVersion: 1, Memo: policy.Memo{1}},
	} {
		text, err := encode("a", r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"version":1,"gate":"a","seq":3}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode("a", text)
		if err != nil {
			return
		}
		again, err := encode("a", r)
		if err != nil {
			return // a year that JSON cannot write
		}
		if got, err := decode("a", again); err != nil || got.Seq != r.Seq || got.Memo != r.Memo ||
			got.HasRun != r.HasRun {
			t.Errorf("%q is read as %+v, and again as %+v, %v", text, r, got, err)
		}
	})
}

// FuzzMembers: the list of members on disk, and a node key, are read or refused.
func FuzzMembers(f *testing.F) {
	f.Add(
		[]byte(
			`{"version":1,"members":[{"name":"m1","member":"00112233445566778899aabbccddeeff",` +
				`"address":"10.0.0.1:7946"}]}`))
	f.Add([]byte("-----BEGIN OPENSSH PRIVATE KEY-----\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = decodeMembers(text)
		_, _ = parseNodeKey(text)
	})
}
