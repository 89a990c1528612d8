package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These bytes were checked against a second implementation of RFC 8032 and of XChaCha20-Poly1305. They change only with
// Version.
func TestEveryKindOfMessageHasTheseBytes(t *testing.T) {
	for _, tc := range []struct {
		message Message
		secret  *Secret
		hex     string
	}{
		{message: token(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # kind Token
			8e04b06449b9658a40b166ae4ec5e899     # from ann
			774391a88785706a45dfde49ed500bff     # to bob
			1122334455667788                     # handoff
			0000000000000000                     # nonce
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			00c5e4ab7fa89a9f71d6095dcc5156772d1ccac0b94aede757c9683b8720f336
			7e8bb64713d189e6a2886b9482d6b84f086b3a957f976bb7943497c01139970f # signature`},
		{message: ack(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			02                                   # kind Ack
			774391a88785706a45dfde49ed500bff     # from bob
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			1122334455667788                     # handoff
			c1c2c3c4c5c6c7c8                     # nonce
			18a1b2c3d4e5f607                     # birth
			00000000000000000000000000000000     # generator NULL
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000000                             # no lap
			0000000000000000                     # no cursor
			00000000 00000000 00000000 00000000  # no hints
			00 00 00 00                          # no tries
			cb7595de0aee1e75a7d62d6110f55db1c21977146a0d1671f295786b650b48d1
			6c0f64ec1486e3699e158ba0d41c75999946a9bbb43f6482298cfb003e116f08 # signature`},
		{message: commit(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			03                                   # kind Commit
			8e04b06449b9658a40b166ae4ec5e899     # from ann
			774391a88785706a45dfde49ed500bff     # to bob
			1122334455667788                     # handoff
			c1c2c3c4c5c6c7c8                     # nonce
			18a1b2c3d4e5f607                     # birth
			00000000000000000000000000000000     # generator NULL
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000000                             # no lap
			0000000000000000                     # no cursor
			00000000 00000000 00000000 00000000  # no hints
			00 00 00 00                          # no tries
			0590af0c85e818ddb18d94bfcde158830e67ec9b766de2e42cb46afbec727f4d
			a15c68697a9e12739ba0e3138ff19e0249fb265d5171de264d7ca16e25500401 # signature`},
		{message: token(), secret: secret(), hex: `
			77640102                             # wd, version 1, sealed
			000102030405060708090a0b0c0d0e0f1011121314151617 # nonce of the seal
			7199206de7a070505f036c775aa075913b57f620974ccfdb5978b4d6cc57986f
			db5255f54f7f17c10d11ef29798e88e9d9b3e933a28398f171cc7ee02ad191a3
			515cbe1473baf44f955830e04a6cd6884516493324f6d4f5facea2041227cacd
			e784f8d624a432327415ed3ec3e70a7fe8dd6273b85175da074210fadadd3a27
			8b7940969434f4babbd7968b90b69c8638151679aa228c2a20d1d0571963559c
			fcc0af6f801898f9cf26284a0cc81e7b548454eef298322f0d88801cf2d48b36
			48 # content and signature, sealed
			8e612b516495d0d70f4410a2a40064b9     # tag`},
	} {
		name := tc.message.Kind.String()
		if tc.secret != nil {
			name += ", sealed"
		}
		t.Run(name, func(t *testing.T) {
			want := unhex(t, tc.hex)
			if got := datagramOf(t, tc.message, tc.secret); !bytes.Equal(got, want) {
				t.Errorf("Append made\n%x, want\n%x", got, want)
			}
			got, drop := newCodec(t, bobsKey(), tc.secret, zeros{}).Open(want)
			if drop != 0 {
				t.Fatalf("Open dropped it: %v", drop)
			}
			if diff := cmp.Diff(tc.message, got.Message); diff != "" {
				t.Errorf("Open read something else (-want +got):\n%s", diff)
			}
			sender := annsKey()
			if tc.message.Kind == KindAck {
				sender = bobsKey()
			}
			if !got.Verify(public(sender)) {
				t.Error("the signature does not verify")
			}
		})
	}
}

func TestNoAnswerIsLongerThanWhatItAnswers(t *testing.T) {
	for _, s := range []*Secret{nil, secret()} {
		offer, answer, last := datagramOf(t, token(), s), datagramOf(t, ack(), s), datagramOf(t, commit(), s)
		if len(answer) > len(offer) || len(last) > len(answer) {
			t.Errorf("Token, Ack, Commit have %d, %d, %d bytes", len(offer), len(answer), len(last))
		}
		if len(offer) > MaxDatagram {
			t.Errorf("a datagram has %d bytes, more than %d", len(offer), MaxDatagram)
		}
	}
}

func TestAppendKeepsWhatIsInTheBuffer(t *testing.T) {
	for _, s := range []*Secret{nil, secret()} {
		m := token()
		want := append([]byte("before"), datagramOf(t, m, s)...)
		for _, dst := range [][]byte{[]byte("before"), append(make([]byte, 0, MaxDatagram), "before"...)} {
			codec := newCodec(t, annsKey(), s, bytes.NewReader(counting(0, sealNonceSize)))
			if got := codec.Append(dst, &m); !bytes.Equal(got, want) {
				t.Errorf("got\n%x, want\n%x", got, want)
			}
		}
	}
}

// The cast of damaged datagrams: each dies for one reason, and every reason of this package has one.
func TestEveryReasonToDropADatagram(t *testing.T) {
	with := func(datagram []byte, at int, value byte) []byte {
		changed := bytes.Clone(datagram)
		changed[at] = value
		return changed
	}
	zeroFrom := token()
	zeroFrom.From = MemberID{}
	longest := make([]byte, MaxDatagram-EnvelopeSize)
	tooLong := make([]byte, len(longest)+1)
	malformed := newCodec(t, annsKey(), nil, nil).appendSigned(appendEnvelope(nil, ClassClear), &zeroFrom)
	otherSecret := Secret(counting(1, 32))

	seen := map[Drop]bool{}
	for _, tc := range []struct {
		name     string
		datagram []byte
		secret   *Secret // the receiver's
		want     Drop
	}{
		{"nothing", nil, nil, DropSize},
		{"half an envelope", []byte{'w', 'd', Version}, nil, DropSize},
		{"a bare envelope of gossip", AppendGossip(nil, nil), nil, DropSize},
		{"a bare envelope in the clear", appendEnvelope(nil, ClassClear), nil, DropSize},
		{"a bare sealed envelope", appendEnvelope(nil, ClassSealed), secret(), DropSize},
		{"one byte too long", append(appendEnvelope(nil, ClassClear), tooLong...), nil, DropSize},
		{"one byte too long, sealed", append(appendEnvelope(nil, ClassSealed), tooLong...), secret(), DropSize},
		{"first byte of the magic", with(datagramOf(t, token(), nil), 0, 'W'), nil, DropMagic},
		{"second byte of the magic", with(datagramOf(t, token(), nil), 1, 'D'), nil, DropMagic},
		{"somebody's DNS query", unhex(t, "1a2b 0100 0001 0000 0000 0000 03777777 00 0001 0001"), nil, DropMagic},
		{"an older version", with(datagramOf(t, token(), nil), 2, Version-1), nil, DropVersion},
		{"a newer version", with(datagramOf(t, token(), nil), 2, Version+1), nil, DropVersion},
		{"class zero", with(datagramOf(t, token(), nil), 3, 0), nil, DropClass},
		{"a class nobody knows", with(datagramOf(t, token(), nil), 3, 4), nil, DropClass},
		{"gossip where a message was asked for", AppendGossip(nil, make([]byte, 300)), nil, DropClass},
		{"in the clear, the fleet has a secret", datagramOf(t, token(), nil), secret(), DropClear},
		{"sealed, this member has no secret", datagramOf(t, token(), secret()), nil, DropNoSecret},
		{"sealed with another secret", datagramOf(t, token(), &otherSecret), secret(), DropSeal},
		{"sealed, longest possible, all zero", append(appendEnvelope(nil, ClassSealed), longest...), secret(), DropSeal},
		{"from nobody, though signed", malformed, nil, DropMalformed},
		{"longest possible, all zero", append(appendEnvelope(nil, ClassClear), longest...), nil, DropMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, drop := newCodec(t, bobsKey(), tc.secret, zeros{}).Open(tc.datagram)
			if drop != tc.want {
				t.Errorf("dropped for %v, want %v", drop, tc.want)
			}
			if got != (Unverified{}) {
				t.Errorf("a dropped datagram left something: %+v", got)
			}
		})
		seen[tc.want] = true
	}
	for _, drop := range Drops() {
		if drop <= DropMalformed && !seen[drop] {
			t.Errorf("no datagram is dropped for %v", drop)
		}
	}
}

func TestADatagramCutAnywhereIsDropped(t *testing.T) {
	for _, s := range []*Secret{nil, secret()} {
		whole := datagramOf(t, token(), s)
		codec := newCodec(t, bobsKey(), s, zeros{})
		for n := range whole {
			if _, drop := codec.Open(bytes.Clone(whole[:n])); drop != DropSize {
				t.Errorf("the first %d of %d bytes: %v, want %v", n, len(whole), drop, DropSize)
			}
		}
	}
}

func TestADatagramWithAnyBitFlippedIsDroppedOrDoesNotVerify(t *testing.T) {
	ann := public(annsKey())
	for _, s := range []*Secret{nil, secret()} {
		whole := datagramOf(t, token(), s)
		codec := newCodec(t, bobsKey(), s, zeros{})
		for bit := range len(whole) * 8 {
			flipped := bytes.Clone(whole)
			flipped[bit/8] ^= 1 << (bit % 8)
			got, drop := codec.Open(flipped)
			if drop == 0 && got.Verify(ann) {
				t.Errorf("bit %d of byte %d flipped, and it verifies", bit%8, bit/8)
			}
			if s != nil && drop == 0 {
				t.Errorf("bit %d of byte %d flipped, and the seal opens", bit%8, bit/8)
			}
		}
	}
}

func TestAnExtensionIsIgnoredButSigned(t *testing.T) {
	ann := public(annsKey())
	codec := newCodec(t, bobsKey(), nil, nil)
	longest := string(make([]byte, MaxDatagram-EnvelopeSize-signedSize))
	for _, extension := range []string{"x", "what a later version has to say", longest} {
		datagram := extended(t, token(), extension)
		got, drop := codec.Open(bytes.Clone(datagram))
		if drop != 0 {
			t.Fatalf("an extension of %d bytes: %v", len(extension), drop)
		}
		if got.Message != token() {
			t.Errorf("an extension of %d bytes changed the message: %+v", len(extension), got.Message)
		}
		if !got.Verify(ann) {
			t.Errorf("an extension of %d bytes does not verify", len(extension))
		}

		at := EnvelopeSize + ContentSize + len(extension) - 1
		datagram[at] ^= 1
		got, drop = codec.Open(datagram)
		if drop != 0 {
			t.Fatalf("a changed extension of %d bytes: %v", len(extension), drop)
		}
		if got.Verify(ann) {
			t.Errorf("the last of %d bytes of extension is not signed", len(extension))
		}
	}
}

func TestACodecServesSeveralGoroutines(t *testing.T) {
	codec := newCodec(t, annsKey(), secret(), zeros{})
	want, ann := token(), public(annsKey())
	done := make(chan string)
	const goroutines, rounds = 4, 20
	for range goroutines {
		go func() {
			var buf []byte
			for range rounds {
				buf = codec.Append(buf[:0], &want)
				got, drop := codec.Open(buf)
				if drop != 0 || got.Message != want || !got.Verify(ann) {
					done <- "a message was damaged: " + drop.String()
					return
				}
			}
			done <- ""
		}()
	}
	for range goroutines {
		if trouble := <-done; trouble != "" {
			t.Error(trouble)
		}
	}
}

func TestACodecNeedsAWholeKeyAndANonceForEverySeal(t *testing.T) {
	key := annsKey()
	mixed := append(bytes.Clone(key[:32]), public(bobsKey())...)
	if _, err := NewCodec(key[:63], nil, nil); err == nil {
		t.Error("a key that is too short was taken")
	}
	if _, err := NewCodec(mixed, nil, nil); err == nil {
		t.Error("a key of two halves that do not belong together was taken")
	}
	if _, err := NewCodec(key, secret(), nil); err == nil {
		t.Error("a secret without a source of nonces was taken")
	}

	codec := newCodec(t, key, secret(), bytes.NewReader(counting(0, sealNonceSize+1)))
	m := token()
	codec.Append(nil, &m)
	defer func() {
		if recover() == nil {
			t.Error("a message was sealed without a fresh nonce")
		}
	}()
	codec.Append(nil, &m)
}

func TestJunkAndMessagesAreReadWithoutAllocation(t *testing.T) {
	for name, tc := range datagramsToRead(t) {
		codec := newCodec(t, bobsKey(), tc.secret, zeros{})
		buf := make([]byte, len(tc.datagram))
		allocs := testing.AllocsPerRun(100, func() {
			copy(buf, tc.datagram)
			if _, drop := codec.Open(buf); drop != tc.want {
				t.Fatalf("%s: dropped for %v, want %v", name, drop, tc.want)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// The allocations left are those of crypto/ed25519, which signer and Unverified tell of.
func TestOnlyTheStandardLibraryAllocatesForASignature(t *testing.T) {
	const toSign, toVerify = 3, 1
	for _, s := range []*Secret{nil, secret()} {
		codec, m, buf := newCodec(t, annsKey(), s, zeros{}), token(), make([]byte, 0, MaxDatagram)
		if allocs := testing.AllocsPerRun(20, func() { codec.Append(buf, &m) }); allocs > toSign {
			t.Errorf("Append: %v allocations, want %d", allocs, toSign)
		}
	}

	u, _ := newCodec(t, bobsKey(), nil, nil).Open(datagramOf(t, token(), nil))
	ann := public(annsKey())
	if allocs := testing.AllocsPerRun(20, func() { u.Verify(ann) }); allocs > toVerify {
		t.Errorf("Verify: %v allocations, want %d", allocs, toVerify)
	}
}
