package wire

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// layoutCase is a case of one rule of the layout: some messages, and the change of each.
type layoutCase struct {
	name string
	of   []Message
	do   func(m *Message)
}

func TestAMessageThatBreaksARuleOfTheLayoutDoesNotParse(t *testing.T) {
	all := cast()
	for _, tc := range []layoutCase{
		{"from nobody", all, func(m *Message) { m.From = MemberID{} }},
		{"to nobody", all, func(m *Message) { m.To = MemberID{} }},
		{"to its sender", all, func(m *Message) { m.To = m.From }},
		{"more slots than a gate can have", all, func(m *Message) { m.Token.Slot = MaxSlots }},
		{"birth before 1970", all, func(m *Message) { m.Token.ID.Birth = -1 }},
		{"birth after 2116", all, func(m *Message) { m.Token.ID.Birth = MaxBirth + 1 }},
		{"a directive of nobody", all, func(m *Message) { m.Directive = Directive{Stamp: 1} }},
		{"a directive without a stamp", all, func(m *Message) { m.Directive = Directive{By: m.From} }},
		{"a pause until before 1970", all, func(m *Message) {
			m.Directive = Directive{Stamp: 1, By: m.From, Until: -1}
		}},
		{"a host without a failure", all, func(m *Message) { m.Failures = Failures{Hosts: [MaxFailures]uint32{1}} }},
		{"a failure behind an empty place", all, func(m *Message) {
			m.Failures = Failures{Exits: [MaxFailures]uint8{0, 1}}
		}},
		{"a fencing number that could wrap", all, func(m *Message) { m.Token.Seq = MaxSeq + 1 }},
	} {
		for _, m := range tc.of {
			t.Run(m.Kind.String()+"/"+tc.name, func(t *testing.T) {
				if _, ok := Parse(m.Append(nil)); !ok {
					t.Fatal("the message does not parse before it is changed")
				}
				tc.do(&m)
				if got, ok := Parse(m.Append(nil)); ok || got != (Message{}) {
					t.Errorf("parsed: %v, %+v", ok, got)
				}
			})
		}
	}
}

func TestTheLimitsOfTheLayoutParse(t *testing.T) {
	all := cast()
	for _, tc := range []layoutCase{
		{"any kind", all, func(m *Message) { m.Kind = 200 }},
		{"any protocol", all, func(m *Message) { m.Protocol, m.Version = 255, 255 }},
		{"any load", all, func(m *Message) { copy(m.Load[:], bytes.Repeat([]byte{255}, LoadSize)) }},
		{"gate zero", all, func(m *Message) { m.Gate = 0 }},
		{"the first slot", all, func(m *Message) { m.Token.Slot = 0 }},
		{"the last slot", all, func(m *Message) { m.Token.Slot = MaxSlots - 1 }},
		{"no exchange", all, func(m *Message) { m.Exchange = 0 }},
		{"the last exchange", all, func(m *Message) { m.Exchange = math.MaxUint64 }},
		{"no nonce", all, func(m *Message) { m.Nonce = 0 }},
		{"the last nonce", all, func(m *Message) { m.Nonce = math.MaxUint64 }},
		{"birth in 1970", all, func(m *Message) { m.Token.ID.Birth = 0 }},
		{"birth in 2116", all, func(m *Message) { m.Token.ID.Birth = MaxBirth }},
		{"random id zero", all, func(m *Message) { m.Token.ID.Random = 0 }},
		{"no directive", all, func(m *Message) { m.Directive = Directive{} }},
		{"a pause for ever", all, func(m *Message) {
			m.Directive = Directive{Stamp: math.MaxUint64, By: m.From, Until: ForEver}
		}},
		{"no failures", all, func(m *Message) { m.Failures = Failures{} }},
		{"as many failures as there can be", all, func(m *Message) {
			m.Failures = Failures{
				Stamp: math.MaxUint32, Exits: [MaxFailures]uint8(bytes.Repeat([]byte{255}, MaxFailures)),
			}
		}},
		{"no number", all, func(m *Message) { m.Token.Seq = 0 }},
		{"the last number", all, func(m *Message) { m.Token.Seq = MaxSeq }},
	} {
		for _, m := range tc.of {
			t.Run(m.Kind.String()+"/"+tc.name, func(t *testing.T) {
				tc.do(&m)
				if got, ok := Parse(m.Append(nil)); !ok || got != m {
					t.Errorf("parsed: %v, %+v", ok, got)
				}
			})
		}
	}
}

func TestAContentCutAnywhereDoesNotParse(t *testing.T) {
	for _, m := range cast() {
		content := m.Append(nil)
		if len(content) != ContentSize {
			t.Fatalf("the content of %v has %d bytes, want %d", m.Kind, len(content), ContentSize)
		}
		for n := range content {
			if _, ok := Parse(content[:n]); ok {
				t.Errorf("the first %d bytes of %v parse", n, m.Kind)
			}
		}
	}
}

func TestAMessageRoundTrips(t *testing.T) {
	ann, bob := newCodec(t, annsKey(), secret(), zeros{}), newCodec(t, bobsKey(), secret(), zeros{})
	annsPublic, buf := public(annsKey()), make([]byte, 0, MaxDatagram)
	rapid.Check(t, func(t *rapid.T) {
		want := anyMessage().Draw(t, "message")
		got, ok := Parse(want.Append(nil))
		if !ok {
			t.Fatal("it does not parse")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("content (-want +got):\n%s", diff)
		}

		want.From = idOf(annsKey())
		u, drop := bob.Open(ann.Append(buf, &want))
		if drop != 0 {
			t.Fatalf("dropped for %v", drop)
		}
		if diff := cmp.Diff(want, u.Message); diff != "" {
			t.Fatalf("datagram (-want +got):\n%s", diff)
		}
		if !u.Verify(annsPublic) {
			t.Fatal("the signature does not verify")
		}
	})
}

// anyMessage draws any well-formed message.
func anyMessage() *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		from := anyMember().Draw(t, "from")
		m := Message{
			Gate:     GateID(rapid.Uint64().Draw(t, "gate")),
			Protocol: rapid.Byte().Draw(t, "protocol"),
			Version:  rapid.Byte().Draw(t, "version"),
			Kind:     Kind(rapid.Byte().Draw(t, "kind")),
			From:     from,
			To:       anyMember().Filter(func(id MemberID) bool { return id != from }).Draw(t, "to"),
			Exchange: Exchange(rapid.Uint64().Draw(t, "exchange")),
			Nonce:    Nonce(rapid.Uint64().Draw(t, "nonce")),
			Token: Ref{
				ID: TokenID{
					Birth: rapid.Int64Range(0, MaxBirth).Draw(t, "birth"), Generator: anyMember().Draw(t, "generator"),
					Random: rapid.Uint64().Draw(t, "random"),
				},
				Seq:  Seq(rapid.Uint64Max(uint64(MaxSeq)).Draw(t, "seq")),
				Slot: rapid.Uint8Max(MaxSlots-1).Draw(t, "slot"),
			},
		}
		if rapid.Bool().Draw(t, "directed") {
			m.Directive = Directive{
				Stamp: rapid.Uint64Min(1).Draw(t, "stamp"), By: anyMember().Draw(t, "by"), Until: rapid.Int64Min(0).
					Draw(t, "until"),
			}
		}
		for range rapid.IntRange(0, 2*MaxFailures).Draw(t, "failures") {
			m.Failures.Add(anyMember().Draw(t, "host"), rapid.Uint8Min(1).Draw(t, "exit"))
		}
		copy(m.Load[:], rapid.SliceOfN(rapid.Byte(), LoadSize, LoadSize).Draw(t, "load"))
		return m
	})
}

func anyMember() *rapid.Generator[MemberID] {
	return rapid.Custom(func(t *rapid.T) MemberID {
		return MemberID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "member"))
	}).Filter(func(id MemberID) bool { return !id.IsZero() })
}

// FuzzParse checks that Parse never panics, and that a parsed message is written as the same bytes, except an
// extension.
func FuzzParse(f *testing.F) {
	for _, m := range cast() {
		f.Add(m.Append(nil))
		f.Add(append(m.Append(nil), "an extension"...))
	}
	f.Add([]byte(nil))
	f.Add(make([]byte, ContentSize))
	f.Fuzz(func(t *testing.T, content []byte) {
		m, ok := Parse(content)
		if !ok {
			return
		}
		if again := m.Append(nil); !bytes.Equal(again, content[:ContentSize]) {
			t.Errorf("%x\nis written again as\n%x", content, again)
		}
	})
}
