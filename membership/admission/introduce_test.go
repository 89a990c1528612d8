package admission

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
)

func TestAnIntroductionIsReadAsItWasWritten(t *testing.T) {
	for _, certificate := range [][]byte{nil, peertest.CertificateOf(1), make([]byte, MaxCertificate)} {
		who := NewIntroducer("host1", peertest.PrivateOf(1), func() []byte { return nil })
		who.certificate = func() []byte { return certificate }
		nonces := bytes.Repeat([]byte{7}, 48)
		in, err := ParseIntroduction(who.Introduce("caller", nonces, []byte("message")))
		if err != nil || in.Name != "host1" || !in.Key.Equal(peertest.KeyOf(1)) ||
			!bytes.Equal(in.Certificate, certificate) || string(in.Message) != "message" {
			t.Fatalf("%+v, %v", in, err)
		}
		a := New(&peertest.Book{Known: []int{1}})
		if err := in.Check(a, "caller", nonces); err != nil {
			t.Error(err)
		}
		nonces[0]++
		if err := in.Check(a, "caller", nonces); !errors.Is(err, identity.ErrForged) {
			t.Errorf("on another connection: %v", err)
		}
		nonces[0]--
		if err := in.Check(a, "acceptor", nonces); !errors.Is(err, identity.ErrForged) {
			t.Errorf("by the other side: %v", err)
		}
	}
}

// FuzzIntroduction: these are the first bytes on a connection, of a caller that has proved the secret, or of anybody if
// there is none.
func FuzzIntroduction(f *testing.F) {
	who := NewIntroducer("host1", peertest.PrivateOf(1), func() []byte { return nil })
	f.Add(who.Introduce("caller", nil, peertest.Pack(packets.PingMsg, "SeqNo", 7)))
	who.certificate = func() []byte { return peertest.CertificateOf(1) }
	f.Add(who.Introduce("caller", nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := ParseIntroduction(b)
		if err != nil {
			return
		}
		if len(in.Name)+len(in.Certificate)+len(in.Message)+ed25519.PublicKeySize+ed25519.SignatureSize+4 != len(b) {
			t.Errorf("%d bytes read as %+v", len(b), in)
		}
		a := New(&peertest.Book{Known: []int{2}})
		if in.Check(a, "caller", nil) == nil {
			t.Errorf("trusted: %+v", in)
		}
	})
}
