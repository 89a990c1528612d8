package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A second implementation of the layout, of RFC 8032, HKDF and XChaCha20-Poly1305 made these bytes. They change only
// with Version.
func TestAMessageHasTheseBytes(t *testing.T) {
	for _, tc := range []struct {
		message Message
		secret  *Secret
		hex     string
	}{
		{message: token(), hex: `
			77640403                             # wd, version 4, in the clear
			676e9c7932d91844                     # gate default
			7172                                 # protocol, version
			01                                   # kind Token
			01                                   # slot
			8e04b06449b9658a40b166ae4ec5e899     # from ann
			774391a88785706a45dfde49ed500bff     # to bob
			1122334455667788                     # exchange
			0000000000000000                     # nonce
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			0000018a1b2c3d4e                     # directive: stamp
			efad44bc9c45888c92a6208f4df6a082     # directive by cy
			18a1c2d3e4f50617                     # directive: until
			00000007                             # failures: stamp
			8e04b064774391a8                     # failures on ann and bob
			000000000000000000000000000000000000000000000000
			018f000000000000                     # exits 1 and 143
			808182838485868788898a8b8c8d8e8f     # load
			909192939495969798999a9b9c9d9e9f
			a0a1a2a3a4a5a6a7a8a9aaabacadaeaf
			b0b1b2b3b4b5b6b7b8b9babbbcbdbebf
			c0c1c2c3c4c5c6c7c8c9cacbcccdcecf
			d0d1d2d3d4d5d6d7d8d9dadbdcdddedf
			e0e1e2e3e4e5e6e7e8e9eaebecedeeef
			05ababb05c24b33612e51e795f2f85d1056b98119cf0e109a3b63fbb0363f3d0
			7b97bb005aed5749227d1a0e462f796b52ea8a3b36f3fa1cc63e0c72faad6705 # signature`},
		{message: ack(), hex: `
			77640403                             # wd, version 4, in the clear
			676e9c7932d91844                     # gate default
			7172                                 # protocol, version
			02                                   # kind Ack
			01                                   # slot
			774391a88785706a45dfde49ed500bff     # from bob
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			1122334455667788                     # exchange
			c1c2c3c4c5c6c7c8                     # nonce
			18a1b2c3d4e5f607                     # birth
			00000000000000000000000000000000     # generator NULL
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			000000000000000000000000000000000000000000000000 # no directive
			0000000000000000
			00000000                             # no failures
			00000000000000000000000000000000000000000000000000000000000000000000000000000000
			00000000000000000000000000000000     # load
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			3702eb7011935f704fafef10c0b84b4c2921c3e842f6d4e4ce05031c68629fc3
			f1ed380767532e81032c105104a204bbe55dc2adb91c99c28744b08e034a890e # signature`},
		{message: bare(), hex: `
			77640403                             # wd, version 4, in the clear
			0000000000000000                     # gate zero
			0000                                 # no protocol
			ff                                   # kind 255
			00                                   # slot
			774391a88785706a45dfde49ed500bff     # from bob
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			0000000000000000                     # no exchange
			0000000000000000                     # nonce
			0000000000000000                     # birth
			00000000000000000000000000000000     # generator NULL
			0000000000000000                     # random
			0000000000000000                     # seq
			000000000000000000000000000000000000000000000000 # no directive
			0000000000000000
			00000000                             # no failures
			00000000000000000000000000000000000000000000000000000000000000000000000000000000
			00000000000000000000000000000000     # load
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			94b85a314e9a522ea26a8a8faf3fa3922729c38ca3e7cf13209b5efabf3df4e1
			f14850ae637b72eb3fa697e026d247a42f0cb2d9a7dc7d501bc64f250690fb0a # signature`},
		{message: token(), secret: secret(), hex: `
			77640402                             # wd, version 4, sealed
			ed0102030405060708090a0b0c0d0e0f1011121314151617 # mark and nonce of the seal
			240866cce10539a1397d41c3a1bf5276ae3da356d7d0cf74f4b1fff1e040b9a6
			f05d83d90f9e30a25ed3613b3b0937f4ad1d4d7dc2dbd8b93eca840183e8bdf7
			83a4d71b88ac2b618ff1ecc123cf6d2899cb9f8dde89ae31a7b667c5beb88e57
			e913181fd2473b7e39a1303d497ca5a2fac0a67ee46456ed795990c4ddc3ff95
			83e19d99db0f660e89d2b4da90065c8f198b889a7927ad43dd877a4683828528
			ca31fa59caf3da315d74b8fcfc051d4ca95b652ef3800523dec18ffc13fdaf97
			d53d93251ec38861603cbcbd72777606dac81d9e756ed6c845e8ba7e73385317
			21e1de8c29118277c0e8ef57e1ea2ca98ad03c65a0b24c68ddacf9cd01066a8e
			022096e605e48fc58a4359e0b9ef1edd53dbe82115e02f312d5a52c485dbe20e
			2a1c8edcb8bca6d37fe6f3ec49757726c9fc20129c225ebf5419d6166a4f1ab5
			e619736018dc457cb4bb3976f61f11a77e5b8507da2988c49b1dc2b69e7cba88 # content and signature, sealed
			0f6f8c00d2682d3ba5375cacaf52c878     # tag`},
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
			if !got.Verify(public(keyOf(t, tc.message.From))) {
				t.Error("the signature does not verify")
			}
		})
	}
}

func TestNoAnswerIsLongerThanItsRequest(t *testing.T) {
	for _, s := range []*Secret{nil, secret()} {
		offer := datagramOf(t, token(), s)
		if len(offer) > MaxDatagram {
			t.Errorf("a datagram has %d bytes, more than %d", len(offer), MaxDatagram)
		}
		for _, m := range cast() {
			if got := datagramOf(t, m, s); len(got) != len(offer) {
				t.Errorf("Token and %v have %d and %d bytes", m.Kind, len(offer), len(got))
			}
		}
	}
}

func TestAppendKeepsTheContentOfTheBuffer(t *testing.T) {
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

// The damaged datagrams: each is dropped for one reason, and every reason of this package has one.
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
	malformed := newCodec(t, annsKey(), nil, nil).sign(zeroFrom.Append(appendEnvelope(nil, ClassClear)), EnvelopeSize)
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
		{
			"sealed, longest possible, all zero", append(appendEnvelope(nil, ClassSealed), longest...), secret(),
			DropSeal,
		},
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
	if _, err := NewCodec(key[:63], nil); err == nil {
		t.Error("a key that is too short was taken")
	}
	if _, err := NewCodec(mixed, nil); err == nil {
		t.Error("a key whose halves do not match was accepted")
	}
	if _, err := NewCodec(key, nil, *secret()); err == nil {
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

// The remaining allocations are those of crypto/ed25519; see signer and Unverified.
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
