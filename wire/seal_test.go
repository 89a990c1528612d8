package wire

import (
	"bytes"
	"testing"
)

func TestASealedDatagramRevealsNothingOfTheMessage(t *testing.T) {
	m := token()
	datagram := datagramOf(t, m, secret())
	const window = 4
	content := m.Append(nil)
	for i := range len(content) - window {
		part := content[i : i+window]
		if !bytes.Equal(part, make([]byte, window)) && bytes.Contains(datagram[EnvelopeSize+sealNonceSize:], part) {
			t.Errorf("bytes %d to %d of the content are readable", i, i+window)
		}
	}
}

func TestTheSameMessageIsSealedDifferentlyEachTime(t *testing.T) {
	codec := newCodec(t, annsKey(), secret(), bytes.NewReader(counting(0, 2*sealNonceSize)))
	m := token()
	first, second := codec.Append(nil, &m), codec.Append(nil, &m)
	if bytes.Equal(first[EnvelopeSize:][:sealNonceSize], second[EnvelopeSize:][:sealNonceSize]) {
		t.Error("a nonce was used twice")
	}
	if bytes.Equal(first[EnvelopeSize+sealNonceSize:], second[EnvelopeSize+sealNonceSize:]) {
		t.Error("two datagrams of one message differ in nothing but the nonce")
	}
}

func TestTheSealCoversTheEnvelope(t *testing.T) {
	codec := newCodec(t, bobsKey(), secret(), zeros{})
	for at := range EnvelopeSize {
		datagram := datagramOf(t, token(), secret())
		datagram[at] ^= 1
		if _, ok := codec.sealers[0].open(datagram); ok {
			t.Errorf("byte %d changed, and the seal opens", at)
		}
	}
}
