package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAMessageThatBreaksARuleOfTheLayoutDoesNotParse(t *testing.T) {
	for _, tc := range []struct {
		name string
		of   Message
		do   func(m *Message)
	}{
		{"no kind", token(), func(m *Message) { m.Kind = 0 }},
		{"a kind nobody knows", token(), func(m *Message) { m.Kind = KindCommit + 1 }},
		{"from nobody", token(), func(m *Message) { m.From = MemberID{} }},
		{"to nobody", token(), func(m *Message) { m.To = MemberID{} }},
		{"to its sender", token(), func(m *Message) { m.To = m.From }},
		{"birth before 1970", token(), func(m *Message) { m.Token.ID.Birth = -1 }},
		{"birth after 2116", token(), func(m *Message) { m.Token.ID.Birth = MaxBirth + 1 }},
		{"no fencing number", token(), func(m *Message) { m.Token.Seq = 0 }},
		{"a fencing number that could wrap", token(), func(m *Message) { m.Token.Seq = MaxSeq + 1 }},
		{"a Token with a nonce", token(), func(m *Message) { m.Nonce = 1 }},
		{"a Token nobody generated", token(), func(m *Message) { m.Token.ID.Generator = MemberID{} }},
		{"a missed member that nobody tried", token(), func(m *Message) { m.Token.Route.Tries[1] = 0 }},
		{"a missed member tried too often", token(), func(m *Message) { m.Token.Route.Tries[1] = MaxTries + 1 }},
		{"a missed member after an empty place", token(), func(m *Message) { m.Token.Route.Tries[3] = 1 }},
		{"an Ack with a route", ack(), func(m *Message) { m.Token.Route.Lap = 1 }},
		{"a Commit with a route", commit(), func(m *Message) { m.Token.Route.Cursor = 1 }},
		{"an Ack without a nonce", ack(), func(m *Message) { m.Nonce = 0 }},
		{"an Ack with a generator", ack(), func(m *Message) { m.Token.ID.Generator = idOf(cysKey()) }},
		{"a Commit without a nonce", commit(), func(m *Message) { m.Nonce = 0 }},
		{"a Commit with a generator", commit(), func(m *Message) { m.Token.ID.Generator = idOf(cysKey()) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := tc.of
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

func TestTheLimitsOfTheLayoutParse(t *testing.T) {
	for name, change := range map[string]func(m *Message){
		"gate zero":          func(m *Message) { m.Gate = 0 },
		"handoff zero":       func(m *Message) { m.Handoff = 0 },
		"birth in 1970":      func(m *Message) { m.Token.ID.Birth = 0 },
		"random id zero":     func(m *Message) { m.Token.ID.Random = 0 },
		"the first number":   func(m *Message) { m.Token.Seq = 1 },
		"the last number":    func(m *Message) { m.Token.Seq = MaxSeq },
		"made by its sender": func(m *Message) { m.Token.ID.Generator = m.From },
		"no route":           func(m *Message) { m.Token.Route = Route{} },
		"everybody missed": func(m *Message) {
			for i := range m.Token.Route.Missed {
				m.Token.Route.Missed[i], m.Token.Route.Tries[i] = uint32(i), MaxTries
			}
		},
		"made by its addressee": func(m *Message) { m.Token.ID.Generator = m.To },
	} {
		t.Run(name, func(t *testing.T) {
			m := token()
			change(&m)
			if got, ok := Parse(m.Append(nil)); !ok || got != m {
				t.Errorf("parsed: %v, %+v", ok, got)
			}
		})
	}
}

func TestAContentCutAnywhereDoesNotParse(t *testing.T) {
	m := token()
	content := m.Append(nil)
	if len(content) != ContentSize {
		t.Fatalf("the content has %d bytes, want %d", len(content), ContentSize)
	}
	for n := range content {
		if _, ok := Parse(content[:n]); ok {
			t.Errorf("the first %d bytes parse", n)
		}
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
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
			Gate:    GateID(rapid.Uint64().Draw(t, "gate")),
			Kind:    rapid.SampledFrom([]Kind{KindToken, KindAck, KindCommit}).Draw(t, "kind"),
			From:    from,
			To:      anyMember().Filter(func(id MemberID) bool { return id != from }).Draw(t, "to"),
			Handoff: HandoffID(rapid.Uint64().Draw(t, "handoff")),
			Token: Token{
				ID:  TokenID{Birth: rapid.Int64Range(0, MaxBirth).Draw(t, "birth"), Random: rapid.Uint64().Draw(t, "random")},
				Seq: Seq(rapid.Uint64Range(1, uint64(MaxSeq)).Draw(t, "seq")),
			},
		}
		if m.Kind == KindToken {
			m.Token.ID.Generator = anyMember().Draw(t, "generator")
			m.Token.Route = anyRoute().Draw(t, "route")
		} else {
			m.Nonce = Nonce(rapid.Uint64Min(1).Draw(t, "nonce"))
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

func anyMember() *rapid.Generator[MemberID] {
	return rapid.Custom(func(t *rapid.T) MemberID {
		return MemberID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "member"))
	}).Filter(func(id MemberID) bool { return !id.IsZero() })
}

// FuzzParse: nothing makes Parse panic, and what parses is written again as the same bytes, an extension apart.
func FuzzParse(f *testing.F) {
	for _, m := range []Message{token(), ack(), commit()} {
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
