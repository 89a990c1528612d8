package wire

import (
	"bytes"
	"testing"
)

// FuzzDatagram checks that what a sender without a key sends is dropped, in the clear and sealed: only a datagram that
// a member has signed verifies.
func FuzzDatagram(f *testing.F) {
	for _, m := range cast() {
		f.Add(datagramOf(f, m, nil))
		f.Add(datagramOf(f, m, secret()))
	}
	f.Add(AppendGossip(nil, []byte("gossip")))
	honest := make(map[string]bool)
	for _, m := range cast() {
		honest[string(datagramOf(f, m, nil))] = true
	}
	open, err := NewCodec(annsKey(), nil)
	if err != nil {
		f.Fatal(err)
	}
	sealed, err := NewCodec(annsKey(), zeros{}, *secret(), changed())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, datagram []byte) {
		whole := bytes.Clone(datagram)
		if class, payload, drop := Classify(datagram); drop == 0 && len(payload) != len(datagram)-EnvelopeSize {
			t.Errorf("class %d of %d bytes has %d", class, len(datagram), len(payload))
		}
		if u, drop := open.Open(bytes.Clone(datagram)); drop == 0 && u.Verify(public(bobsKey())) &&
			!honest[string(whole[:min(len(whole), len(datagramOf(t, bare(), nil)))])] {
			t.Errorf("%x verifies", whole)
		}
		if _, drop := sealed.Open(datagram); drop == 0 &&
			!bytes.HasPrefix(whole, []byte{'w', 'd', Version, byte(ClassSealed)}) {
			t.Errorf("%x opens", whole)
		}
	})
}

// FuzzSecrets checks that a file of secrets has one or two, which differ and can be told apart.
func FuzzSecrets(f *testing.F) {
	one, two := *secret(), changed()
	f.Add([]byte(one.Reveal()))
	f.Add([]byte(one.Reveal() + "\n" + two.Reveal() + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		secrets, err := ParseSecrets(text)
		if (err == nil) != (len(secrets) == 1 || len(secrets) == 2) || len(secrets) == 2 &&
			secrets[0].Mark() == secrets[1].Mark() {
			t.Errorf("%d secrets, %v", len(secrets), err)
		}
	})
}
