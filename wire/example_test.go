package wire_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"

	"github.com/wanderd/wanderd/wire"
)

// A message goes from one member to another: signed by the sender, sealed with the secret of the fleet.
func ExampleCodec() {
	secret := wire.Secret{1, 2, 3}
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	public := key.Public().(ed25519.PublicKey)
	sender, err := wire.NewCodec(key, rand.Reader, secret)
	if err != nil {
		panic(err)
	}
	m := wire.Message{
		Gate: wire.GateIDOf("default"), Kind: 1, From: wire.MemberIDOf(public), To: wire.MemberID{9}, Exchange: 42,
	}
	datagram := sender.Append(nil, &m)

	otherKey := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	receiver, err := wire.NewCodec(otherKey, rand.Reader, secret)
	if err != nil {
		panic(err)
	}
	recorded := bytes.Clone(datagram) // Open decrypts in place.
	got, drop := receiver.Open(datagram)
	fmt.Println(len(recorded) <= wire.MaxDatagram, drop == 0, got.Verify(public), got.Message.Exchange)

	unverified, err := wire.NewCodec(otherKey, rand.Reader, wire.Secret{4})
	if err != nil {
		panic(err)
	}
	_, drop = unverified.Open(recorded)
	fmt.Println(drop)
	// Output:
	// true true true 42
	// seal
}
