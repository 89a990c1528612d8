package wire

import (
	"crypto/ed25519"
	"crypto/sha512"
	"fmt"
	"testing"
)

func opened(t *testing.T, datagram []byte) Unverified {
	t.Helper()
	u, drop := newCodec(t, bobsKey(), nil, nil).Open(datagram)
	if drop != 0 {
		t.Fatalf("dropped for %v", drop)
	}
	return u
}

func TestASignatureOfAnotherKeyIsInvalid(t *testing.T) {
	m := token()
	forged := opened(t, newCodec(t, cysKey(), nil, nil).Append(nil, &m))
	if forged.Verify(public(annsKey())) {
		t.Error("cy's signature passes for ann's")
	}
	if forged.Verify(public(cysKey())) {
		t.Error("cy signed, and passes for ann with a key of her own")
	}
	if genuine := opened(t, datagramOf(t, m, nil)); !genuine.Verify(public(annsKey())) {
		t.Error("ann's own signature does not verify")
	}
}

func TestASignatureOfAnotherUseOfTheKeyIsInvalid(t *testing.T) {
	m := token()
	content := m.Append(nil)
	digest := sha512.Sum512(content)
	sign := func(message []byte, options *ed25519.Options) []byte {
		signature, err := annsKey().Sign(nil, message, options)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	prehashed := func(context string) *ed25519.Options {
		options := signatureOptions()
		options.Context = context
		return options
	}
	for _, tc := range []struct {
		name      string
		signature []byte
		want      bool
	}{
		{"a message of this version", sign(digest[:], prehashed("wanderd message v4")), true},
		{"a message of another version", sign(digest[:], prehashed("wanderd message v3")), false},
		{"no context", sign(digest[:], prehashed("")), false},
		{"plain Ed25519 of the content", sign(content, &ed25519.Options{}), false},
		{"plain Ed25519 of the digest", sign(digest[:], &ed25519.Options{}), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			datagram := append(appendEnvelope(nil, ClassClear), content...)
			u := opened(t, append(datagram, tc.signature...))
			if got := u.Verify(public(annsKey())); got != tc.want {
				t.Errorf("verifies: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestTheSignatureContainsTheVersion(t *testing.T) {
	if want := fmt.Sprintf("wanderd message v%d", Version); signatureContext != want {
		t.Errorf("the context is %q, want %q", signatureContext, want)
	}
}

func TestAKeyOfAnyShapeIsRefusedWithoutPanic(t *testing.T) {
	u := opened(t, datagramOf(t, token(), nil))
	ann := public(annsKey())
	for _, pub := range []ed25519.PublicKey{nil, {}, ann[:31], append(ann[:32:32], 0), make(ed25519.PublicKey, 32)} {
		if u.Verify(pub) {
			t.Errorf("verifies under %x", pub)
		}
	}
}

func TestAnUnverifiedMessageOutlivesItsBuffer(t *testing.T) {
	datagram := datagramOf(t, token(), nil)
	u := opened(t, datagram)
	clear(datagram)
	if u.Message != token() || !u.Verify(public(annsKey())) {
		t.Error("the message changed with the buffer it was read from")
	}
}
