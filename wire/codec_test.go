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
			a5b6b9a6fefe214ecad1182c73af7cd6cb0950086cb57a7ecf1172d599c91e23
			748e6b69805396efdd3eb34cb734ab32eee50621310fc44bbc4b6c88f6b0790a # signature`},
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
			3cd7e41e95c4dc31d43fb74bf522dae1690d0c4da507a348a02f0a9ab017108f
			fede37e73d7b903681c044d70f96256f689dd32efc4b3fd7ed518bf20403290d # signature`},
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
			51c1137e77b5feafb5e09b04ba14ad3fccd4d4347d6613cbbdb4c741b8f26189
			a28ab52cad59109d8f629c0b114bb905dd4878adf9bdcd19006af2e95b3aff07 # signature`},
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
			3900b4ec100c69156a0d21a04b9a96b041dbfeddc68732d0366c899bc1859ffb
			05da1c1af14b0fb2cf14b4ddfe38aeabddc951b9d85f77d6bc7c2d46f6d7690a # signature`},
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
			e5d356789377a5513af1dc15deb11ce6e11c8706a739b5bc2d05bfd62fb9847b
			0d0f53d0914f6009a65186ee1a16ebce2c584eaabe8b0ca2a25528263565ea0b # signature`},
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
			68d93e4b1a50ccc10503170cf0509f80ebbfb0f7dd7ce8f76a7ddaeaa385d34b
			af552f4ac3b925c8b1c48aa7d5a51c151b8490888a7385ae9ae296b527355705 # signature`},
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
			6c2efce476e1146ac6478b64f332765d66686458dd76bd5b2b39b237d86169ed
			e085bc4811dea8618d3311093c64546142ff01c973f8e88b4c3af22ae3204a04 # signature`},
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
			3e7e7a00f55f1727897f9167009f25caf5152f41a495d5fd99beb794b89a262b
			82bbdd1e602fe36893fedbc6297b6b3f18d507dc14ff02b57c2b14e1874d8704 # signature`},
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
			6a0db89c05c5afc0a9aa2cbaeae3ed604681052d8eaba9dbf4957235c4f6961f
			d22afe8386ca9334c5e39fd993883224126ace4220ae173dba82531db4e1cd07 # signature`},
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
			074e1a553a59d790ab88dd2cbbdfa8dc5574071608a75263b591821f4e91bb60
			fa6ec2b3b412bf392ecb59ae0b90e9bb3e5ba6cafaa8fcd5012417fb3aeab603 # signature`},
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
			19705aa4544b63567eba7a80ca00d0fe91d1a177a63fd830b0376e80736518b5
			a910edc411021cbe367e076da105ebe73de6629c6b333013d3b52aef379ee103 # signature`},
		{message: token(), secret: secret(), hex: `
			77640202                             # wd, version 2, sealed
			000102030405060708090a0b0c0d0e0f1011121314151617 # nonce of the seal
			7199206de7a070505f8f69493a59a8bd0872cd068864a47d05e76e302741b598
			3467e06ed94c0e27a20b320b1fe8aacb37c46133a28398f171d4df4a48b7b781
			b34514bf62620d5b5c421a526301af653117693122f0d6f7f4690a041127c9cd
			e284fdd60575c1307213ef3ccdd1307deecf7471bea281da074210fadadf3b25
			8a7985fc3bfb38699dc3cac27c1c639e8ad0935cc7df7a5b820e95ad84c4fa22
			3c1ea6d9c70b49702984a021984ac8c31b8c3fd467e7a544ba1cb48b32c5b2a1
			4732d06b5f82d7f449c5937a382bf636d9b3eb3c03c8fd272cc49ef4ec3bde95
			3671deccaf1d795e6da80696624bee4de8bc632be42b6abe4b26a6e7d1c407d1
			4daa01287f4bcd # content and signature, sealed
			2180f7bf93df8cd660c43ad6c70bfb97     # tag`},
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
