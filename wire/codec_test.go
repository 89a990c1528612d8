package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// These bytes were made by a second implementation of the layout, of RFC 8032, of HKDF and of XChaCha20-Poly1305. They
// change only with Version.
func TestEveryKindOfMessageHasTheseBytes(t *testing.T) {
	seen := map[Kind]bool{}
	for _, tc := range []struct {
		message Message
		secret  *Secret
		hex     string
	}{
		{message: token(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
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
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			70b8bad0cf57c80c55b813616ec0819e31023a8a800d78fff391bf42a2ce2a0d
			efb1034dba73c640d48bfd4e0e741e6bce5242eac8b702d57c206c352f15d903 # signature`},
		{message: ack(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
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
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000     # no trail
			00000000                             # no op
			cfb1e3dfc165be347bad0ddd6feffccd20fd947f9d2c83b2fc19741c6727ca07
			73b83371f583f5dc1ae0b3df796c7f7efac7a2d7808fc72df528636fa63c3b0f # signature`},
		{message: commit(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
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
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000     # no trail
			00000000                             # no op
			53e7490b9cb0400e7d9b46ab84dc13f439ffa6287eda9b04bb6c280b3be65fe9
			37cae6abd0be6574c01df99dcb79a54c0d50201c2644bd349ad56aa5a3d60d0f # signature`},
		{message: beat(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			04                                   # kind Beat
			774391a88785706a45dfde49ed500bff     # from bob
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			0000000000000000                     # no handoff
			0000000000000009                     # the ninth beat
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			25e642d34783e5e675d06c95ee86094035dd15f0728059ed697b6d5e97f68fea
			5b764d7ec21a9f03fc196029232b18dcc83608fe233e84bddc26db2deb616504 # signature`},
		{message: ask(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			05                                   # kind Ask
			efad44bc9c45888c92a6208f4df6a082     # from cy
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			2122232425262728                     # question
			0000000000000000                     # nonce
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			6b12efd79d84397d9500595792beb257cd070614d1e1f0b2a2106033d48f8fb8
			0972af4cc55a4f9d65d92b6328fc234741a398a8021f32f0514945d037ee290b # signature`},
		{message: heard(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			06                                   # kind Heard
			8e04b06449b9658a40b166ae4ec5e899     # from ann
			efad44bc9c45888c92a6208f4df6a082     # to cy
			2122232425262728                     # question
			000000012a05f200                     # heard 5 s ago
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			2d66a22fba7431b9c45134d9019a365c9b2eeb656f75af4cc856963729de36a6
			b57e94574d85633a4be6a17073bd92e62f56dacda96f572886b28ea03394bd04 # signature`},
		{message: known(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			07                                   # kind Known
			774391a88785706a45dfde49ed500bff     # from bob
			efad44bc9c45888c92a6208f4df6a082     # to cy
			2122232425262728                     # question
			0000000000000000                     # nonce
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			24e8e10f5cb0532611bddc103d06d600f5fa72dfaccbe185b3b444a0c1668656
			97a5d9de86508256ec2089950001cb6c93f3acf4f2674c0fc419845795bd0609 # signature`},
		{message: buried(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			08                                   # kind Buried
			774391a88785706a45dfde49ed500bff     # from bob
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			0000000000000000                     # no question
			0000000000000000                     # nonce
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			ad9968cc49880acbaa76f177b733c2553f75996a809895cbfeb2c4b523c6f664
			1ab6dc44a62a85fb572ae7b738289a245279449559a98750b44caefeafe08908 # signature`},
		{message: inquiry(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			09                                   # kind Inquiry
			efad44bc9c45888c92a6208f4df6a082     # from cy
			8e04b06449b9658a40b166ae4ec5e899     # to ann
			2122232425262728                     # question
			0000000000000000                     # nonce
			0000000000000000                     # no birth
			00000000000000000000000000000000     # no generator
			0000000000000000                     # no random
			0000000000000000                     # no seq
			00000000                             # no lap
			0000000000000000                     # no cursor
			00000000 00000000 00000000 00000000  # no hints
			00 00 00 00                          # no tries
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000
			00000000000000000000000000000000     # no trail
			00000000                             # no op
			ca10b03aff9fdc425113099feff199420fbd5eb8bee00e67844002074492d545
			cb9a04832683958f11f87a6263da47e6b682c5016d2de7d9ea95868b311bc20c # signature`},
		{message: sighted(), hex: `
			77640103                             # wd, version 1, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			0a                                   # kind Seen
			8e04b06449b9658a40b166ae4ec5e899     # from ann
			efad44bc9c45888c92a6208f4df6a082     # to cy
			2122232425262728                     # question
			0000000df8475800                     # seen 60 s ago
			18a1b2c3d4e5f607                     # birth
			efad44bc9c45888c92a6208f4df6a082     # generator cy
			a1a2a3a4a5a6a7a8                     # random
			0000000300000005                     # seq
			00000021                             # lap
			d1d2d3d4d5d6d7d8                     # cursor
			e1e2e3e4 f1f2f3f4 00000000 00000000  # hints
			02 01 00 00                          # tries
			8e04b06449b9658a40b166ae4ec5e899     # trail: ann
			efad44bc9c45888c92a6208f4df6a082     # trail: cy
			00000000000000000000000000000000     # trail: nobody
			00000000000000000000000000000000     # trail: nobody
			b1b2b3b4                             # op
			dfddd3b7429798a290bda58d44e396f98eb0f4c66ff77d6084932d77e47adb93
			9ac140632f83535f2b4f1de6b343bae2e42bb32a160c3fc09e0c66860b1c9c0e # signature`},
		{message: token(), secret: secret(), hex: `
			77640102                             # wd, version 1, sealed
			000102030405060708090a0b0c0d0e0f1011121314151617 # nonce of the seal
			7199206de7a070505f8f69493a59a8bd0872cd068864a47d05e76e302741b598
			3467e06ed94c0e27a20b320b1fe8aacb37c46133a28398f171d4df4a48b7b781
			b34514bf62620d5b5c421a526301af653117693122f0d6f7f4690a041127c9cd
			e284fdd60575c1307213ef3ccdd1307deecf7471bea281da074210fadadf3b25
			8a7985fc3bfb38699dc3cac27c1c639e8ad0935cc7df7a5b820e95ad84c4fa22
			3c1ea6d9c70b49702984a021984ac8c31b8c3fd467e7a544ba1cb48b32c5b2a1
			4732d06b5f82d72147c6e54b91c2b4a9b0b8a6216c35b5dd27ae1c1854395fa9
			b6bc49f7a82957c552c022ac421b41445df26192a49e339efc626d1e69029911
			26aabcf1daebc4 # content and signature, sealed
			0b93c3ee0bf48164989244d8ec8e2ecb     # tag`},
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
		seen[tc.message.Kind] = true
	}
	for _, kind := range Kinds() {
		if !seen[kind] {
			t.Errorf("no bytes are written down for %v", kind)
		}
	}
}

func TestNoAnswerIsLongerThanWhatItAnswers(t *testing.T) {
	for _, s := range []*Secret{nil, secret()} {
		offer := datagramOf(t, token(), s)
		if len(offer) > MaxDatagram {
			t.Errorf("a datagram has %d bytes, more than %d", len(offer), MaxDatagram)
		}
		for _, m := range everyKind(t) {
			if got := datagramOf(t, m, s); len(got) != len(offer) {
				t.Errorf("Token and %v have %d and %d bytes", m.Kind, len(offer), len(got))
			}
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
