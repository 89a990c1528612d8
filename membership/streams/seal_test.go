package streams

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
)

func TestOnlyPacketsOfThisFleetAreOpened(t *testing.T) {
	good := peertest.SealPacket(t, secretOne, 1, []byte("ping"))
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	sealed, open := newTestSeal(t, secretOne), newTestSeal(t, nil)
	for _, c := range []struct {
		name   string
		seal   *Seal
		packet []byte
		want   error
	}{
		{"sealed", sealed, good, nil},
		{"sealed here", sealed, sealed.Seal([]byte("ping")), nil},
		{"sealed and long", sealed, peertest.SealPacket(t, secretOne, 1, make([]byte, MaxPacket-SealedOverhead)), nil},
		{"another secret", sealed, peertest.SealPacket(t, secretTwo, 1, []byte("ping")), packets.ErrForeignSeal},
		{"a flipped bit", sealed, flipped, packets.ErrForeignSeal},
		{"cut short", sealed, good[:len(good)-1], packets.ErrForeignSeal},
		{"version 0", sealed, peertest.SealPacket(t, secretOne, 0, []byte("\xff")), packets.ErrMalformed},
		{"sealed nothing", sealed, peertest.SealPacket(t, secretOne, 1, nil), packets.ErrMalformed},
		{"a label", sealed, append([]byte{244, 1, 'x'}, good...), packets.ErrMalformed},
		{"in the clear", sealed, []byte{0, 1, 2}, packets.ErrMalformed},
		{"too long", sealed, peertest.SealPacket(t, secretOne, 1, make([]byte, MaxPacket)), packets.ErrMalformed},
		{"nothing", sealed, nil, packets.ErrMalformed},
		{"clear and expected so", open, []byte("ping"), nil},
		{"clear here", open, open.Seal([]byte("ping")), nil},
		{"clear nothing", open, nil, packets.ErrMalformed},
	} {
		plain, _, err := c.seal.Open(new([MaxPacket]byte), c.packet)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err == nil && len(plain) == 4 && string(plain) != "ping" {
			t.Errorf("%s: opened as %q", c.name, plain)
		}
	}
}

func TestNoTwoConnectionsOrSidesHaveTheSameKeys(t *testing.T) {
	seen := make(map[[ProofSize]byte]bool)
	for _, secret := range [][]byte{secretOne, secretTwo, nil} {
		for _, p := range []Purpose{ForGossip, ForQuestion} {
			for _, side := range []string{"caller", "acceptor"} {
				for _, nonces := range [][]byte{make([]byte, 48), bytes.Repeat([]byte{1}, 48)} {
					keys := newTestSeal(t, secret).streamKeys(p, side, nonces)
					if seen[keys.proof] || (keys.aead == nil) != (secret == nil) {
						t.Errorf("%s of %x: %x", side, secret, keys.proof)
					}
					seen[keys.proof] = true
				}
			}
		}
	}
}
