package wire

import (
	"bytes"
	"math"
	"testing"
	"time"

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
	all := everyKind(t)
	whole := []Message{token(), ask()}
	for _, tc := range []layoutCase{
		{"from nobody", all, func(m *Message) { m.From = MemberID{} }},
		{"to nobody", all, func(m *Message) { m.To = MemberID{} }},
		{"to its sender", all, func(m *Message) { m.To = m.From }},
		{"a slot above the last", all, func(m *Message) { m.Token.Slot = m.Token.LastSlot + 1 }},
		{"more slots than a gate can have", all, func(m *Message) { m.Token.LastSlot = 16 }},
		{"birth before 1970", all, func(m *Message) { m.Token.ID.Birth = -1 }},
		{"birth after 2116", all, func(m *Message) { m.Token.ID.Birth = MaxBirth + 1 }},
		{"a fencing number that could wrap", all, func(m *Message) { m.Token.Seq = MaxSeq + 1 }},
		{"a missed member that nobody tried", whole, func(m *Message) { m.Token.Route.Tries[1] = 0 }},
		{"a missed member tried too often", whole, func(m *Message) { m.Token.Route.Tries[1] = MaxTries + 1 }},
		{"a missed member after an empty place", whole, func(m *Message) { m.Token.Route.Tries[3] = 1 }},
		{"no first guardian, but a second", whole, func(m *Message) { m.Token.Trail[0] = MemberID{} }},
		{"a guardian after an empty place", all, func(m *Message) { m.Token.Trail[3] = idOf(bobsKey()) }},
		{"a guardian named twice", whole, func(m *Message) { m.Token.Trail[1] = m.Token.Trail[0] }},
		{"a guardian named twice, not in a row", whole, func(m *Message) { m.Token.Trail[2] = m.Token.Trail[0] }},
		{"an age below zero", all, func(m *Message) { m.Token.Age = -1 }},
		{"an age that could wrap", all, func(m *Message) { m.Token.Age = MaxAge + 1 }},
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
	all := everyKind(t)
	whole := []Message{token(), ask()}
	for _, tc := range []layoutCase{
		{"a kind that is another protocol's", all, func(m *Message) { m.Kind = 200 }},
		{"gate zero", all, func(m *Message) { m.Gate = 0 }},
		{"the only slot", all, func(m *Message) { m.Token.Slot, m.Token.LastSlot = 0, 0 }},
		{"the first of all slots", all, func(m *Message) { m.Token.Slot, m.Token.LastSlot = 0, 15 }},
		{"the last of all slots", all, func(m *Message) { m.Token.Slot, m.Token.LastSlot = 15, 15 }},
		{"handoff zero", all, func(m *Message) { m.Handoff = 0 }},
		{"the last handoff", all, func(m *Message) { m.Handoff = math.MaxUint64 }},
		{"the first nonce", all, func(m *Message) { m.Nonce = 1 }},
		{"the last nonce", all, func(m *Message) { m.Nonce = math.MaxUint64 }},
		{"birth in 1970", all, func(m *Message) { m.Token.ID.Birth = 0 }},
		{"birth in 2116", all, func(m *Message) { m.Token.ID.Birth = MaxBirth }},
		{"random id zero", all, func(m *Message) { m.Token.ID.Random = 0 }},
		{"the first number", all, func(m *Message) { m.Token.Seq = 1 }},
		{"the last number", all, func(m *Message) { m.Token.Seq = MaxSeq }},
		{"made by its sender", whole, func(m *Message) { m.Token.ID.Generator = m.From }},
		{"made by its addressee", whole, func(m *Message) { m.Token.ID.Generator = m.To }},
		{"no route", whole, func(m *Message) { m.Token.Route = Route{} }},
		{"everybody missed", whole, func(m *Message) {
			for i := range m.Token.Route.Missed {
				m.Token.Route.Missed[i], m.Token.Route.Tries[i] = uint32(i), MaxTries
			}
		}},
		{"no guardian", whole, func(m *Message) { m.Token.Trail = Trail{} }},
		{"as many guardians as there can be", whole, func(m *Message) { m.Token.Trail = Trail{{1}, {2}, {3}, {4}} }},
		{"guarded by both parties", whole, func(m *Message) { m.Token.Trail = Trail{m.From, m.To} }},
		{"nobody has measured the operation", whole, func(m *Message) { m.Token.Op = 0 }},
		{"the longest operation", whole, func(m *Message) { m.Token.Op = math.MaxUint32 }},
		{"just made", whole, func(m *Message) { m.Token.Age = 0 }},
		{"as old as can be told", whole, func(m *Message) { m.Token.Age = MaxAge }},
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
	for _, m := range everyKind(t) {
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
			Gate: GateID(rapid.Uint64().Draw(t, "gate")),
			Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"),
			From: from,
			To:   anyMember().Filter(func(id MemberID) bool { return id != from }).Draw(t, "to"),
			Token: Token{
				ID:  TokenID{Birth: rapid.Int64Range(0, MaxBirth).Draw(t, "birth"), Random: rapid.Uint64().Draw(t, "random")},
				Seq: Seq(rapid.Uint64Range(1, uint64(MaxSeq)).Draw(t, "seq")),
			},
		}
		m.Token.LastSlot = rapid.Uint8Max(MaxSlots-1).Draw(t, "last slot")
		m.Token.Slot = rapid.Uint8Max(m.Token.LastSlot).Draw(t, "slot")
		nonZero := func(name string) uint64 { return rapid.Uint64Min(1).Draw(t, name) }
		switch m.Kind {
		case KindToken, KindKnown, KindBuried, KindYield:
			m.Handoff = HandoffID(rapid.Uint64().Draw(t, "handoff"))
		case KindAck, KindCommit, KindBeat:
			m.Handoff, m.Nonce = HandoffID(rapid.Uint64().Draw(t, "handoff")), Nonce(nonZero("nonce"))
		case KindAsk:
			m.Handoff = HandoffID(nonZero("question"))
		case KindInquiry:
			m.Handoff = HandoffID(nonZero("question"))
			m.Token = Token{Slot: m.Token.Slot, LastSlot: m.Token.LastSlot}
			return m
		case KindHeard, KindSeen:
			m.Handoff, m.Nonce = HandoffID(nonZero("question")), Nonce(nonZero("nonce"))
		case kindsEnd:
		}
		if m.Kind != KindAck && m.Kind != KindCommit {
			m.Token.ID.Generator = anyMember().Draw(t, "generator")
			m.Token.Route = anyRoute().Draw(t, "route")
			m.Token.Trail = anyTrail().Draw(t, "trail")
			m.Token.Op = rapid.Uint32().Draw(t, "op")
			m.Token.Age = time.Duration(rapid.Int64Range(0, int64(MaxAge)).Draw(t, "age"))
		}
		return m
	})
}

func anyRoute() *rapid.Generator[Route] {
	return rapid.Custom(func(t *rapid.T) Route {
		r := Route{Lap: rapid.Uint32().Draw(t, "lap"), Cursor: rapid.Uint64().Draw(t, "cursor")}
		for i := range rapid.IntRange(0, MaxMissed).Draw(t, "missed") {
			r.Missed[i], r.Tries[i] = rapid.Uint32().Draw(t, "hint"), rapid.Uint8Range(1, MaxTries).Draw(t, "tries")
		}
		return r
	})
}

func anyTrail() *rapid.Generator[Trail] {
	return rapid.Map(rapid.SliceOfNDistinct(anyMember(), 0, MaxBackups, rapid.ID), func(members []MemberID) Trail {
		return trailOf(members...)
	})
}

func anyMember() *rapid.Generator[MemberID] {
	return rapid.Custom(func(t *rapid.T) MemberID {
		return MemberID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "member"))
	}).Filter(func(id MemberID) bool { return !id.IsZero() })
}

// FuzzParse: Parse never panics, and a parsed message is written as the same bytes, except an extension.
func FuzzParse(f *testing.F) {
	for _, m := range everyKind(f) {
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
