package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A second implementation of the layout, of RFC 8032, HKDF and XChaCha20-Poly1305 made these bytes. They change only with Version.
func TestEveryKindOfMessageHasTheseBytes(t *testing.T) {
	seen := map[Kind]bool{}
	for _, tc := range []struct {
		message Message
		secret  *Secret
		hex     string
	}{
		{message: token(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			705a64bc5aab38fe395eb801a7ee7155cd2f61460696c852995c007d7fc409e9
			9120f64ec3cbfe68c0c46a12cbe42bb74dff98251583a6215140cbb82a66a402 # signature`},
		{message: ack(), hex: `
			77640203                             # wd, version 2, in the clear
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
			0000000000000000                     # no age
			15021f2f9b3d6347fb28672096fe01c9c4a8330e9dca1f99b9a5c2e68a1241a6
			3272d461aa5d0a28a7befcb09954476601ee7a77e075f83460e6d784994f9904 # signature`},
		{message: commit(), hex: `
			77640203                             # wd, version 2, in the clear
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
			0000000000000000                     # no age
			eb22cceba5fa711dc4ec1ef7e3e70b96d5feeff004832f4e2f9072a2c36e5aea
			e93642981318a70a451f7c7a889ae45eb18d6890a971281661c2a4fec26b8d01 # signature`},
		{message: beat(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			d4562790ce01fe59544648c4139d3da9912f9ddca57533121a641a669dc91aab
			9de2f4a75c2dc6502181fb6f4e2b77b1fa1d20bc12496ec94f4179ea57600b03 # signature`},
		{message: ask(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			66289e63ee7b7448d1640d2d05426fa9df6e5718e4def9f3af4fb8f323dfd60e
			4c261ee1b9c5011a1f4abac6050fd8eb6494867cec5c9010d9b633dd52a35d04 # signature`},
		{message: heard(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			67c9cb06e388b475642ee2c01ebf16864d58a34bf19f7357be59082d2ae0ba02
			33dbd9cb440662ea05f39442c8b1d00ea83625b67987edd7020415a7c6e4b30c # signature`},
		{message: known(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			fad73e159e5937a939cab8a06944a45e54c8d108779597ae63e56d928db5c26f
			f663ca4b7b147547134c9f4d602df0270fefb23de020966a920a305509836f0a # signature`},
		{message: buried(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			018fdf54bbd3611aea9381a9c62841bb46f098debfac716e8a28ed745f2d6f9a
			4052c6bbf8c5e31cdec9bb06b239bac8ae32b9a34db7113e23363c8c9afef40c # signature`},
		{message: inquiry(), hex: `
			77640203                             # wd, version 2, in the clear
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
			0000000000000000                     # no age
			58d44f3594b9f69134d6fd6f686fdb5b53671ab477076d688f9f17ee63823e62
			e63531c84d05773b512569313f51e1e7ed1956b1ce46d3b5bc55b9650e8e1401 # signature`},
		{message: sighted(), hex: `
			77640203                             # wd, version 2, in the clear
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
			2162636465666768                     # age
			3cf37ed7946f357f24f90073dd301da1d8a0bc9403465e72f28459cb87eb60df
			53e2bbafc585a4f86a91e21800e950aee4647628ff274a1fbc7c6bd0bf52c90f # signature`},
		{message: yield(), hex: `
			77640203                             # wd, version 2, in the clear
			676e9c7932d91844                     # gate default
			01                                   # slot
			02                                   # last slot
			0b                                   # kind Yield
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
			2162636465666768                     # age
			d0f36d3d560822cc3edb7b09701a7fecfe9aa06ec1e4e44fa75ee2aadfbcb0da
			b590ebbca3b5a324ebb6e7d7e65f900f92737bd595ac78f621d6a48da3d15b0c # signature`},
		{message: token(), secret: secret(), hex: `
			77640202                             # wd, version 2, sealed
			000102030405060708090a0b0c0d0e0f1011121314151617 # nonce of the seal
			7199206de7a070505f8f69493a59a8bd0872cd068864a47d05e76e302741b598
			3467e06ed94c0e27a20b320b1fe8aacb37c46133a28398f171d4df4a48b7b781
			b34514bf62620d5b5c421a526301af653117693122f0d6f7f4690a041127c9cd
			e284fdd60575c1307213ef3ccdd1307deecf7471bea281da074210fadadf3b25
			8a7985fc3bfb38699dc3cac27c1c639e8ad0935cc7df7a5b820e95ad84c4fa22
			3c1ea6d9c70b49702984a021984ac8c31b8c3fd467e7a544ba1cb48b32c5b2a1
			4732d06b5f82d7709d1f51e1a06dd08c52cf7b15078cd5d57b2c973fb730f597
			08624d53f0cb08b3bfc31269f5d4e801f6f9615f1b7e30906a4a951d3a2bfb20
			f95eaccb4c94e6465cbe4ea0e90482 # content and signature, sealed
			76a545869709ca6fa406e0add8a1ccab     # tag`},
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

func TestNoAnswerIsLongerThanItsRequest(t *testing.T) {
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
		t.Error("a key whose halves do not match was accepted")
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
