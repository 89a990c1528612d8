package wander_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// wholeMessage has everything that a message of any kind may have.
func wholeMessage(kind wire.Kind) wire.Message {
	m := wire.Message{
		Gate: 1, Kind: kind, From: wire.MemberID{1}, To: wire.MemberID{2}, Handoff: 3, Nonce: 4,
		Token: wire.Token{
			ID: wire.TokenID{Birth: 5, Generator: wire.MemberID{6}, Random: 7}, Seq: 8, Slot: 1, LastSlot: 2, Op: 9, Age: 10,
			Route: wire.Route{Lap: 11}, Trail: wire.Trail{{12}},
		},
	}
	switch {
	case kind == wire.KindInquiry:
		m.Token = wire.Token{Slot: 1, LastSlot: 2}
	case kind == wire.KindAck || kind == wire.KindCommit:
		m.Token = m.Token.Bare()
	}
	if !slices.Contains(withNonce(), kind) {
		m.Nonce = 0
	}
	return m
}

func withNonce() []wire.Kind {
	return []wire.Kind{wire.KindAck, wire.KindCommit, wire.KindBeat, wire.KindHeard, wire.KindSeen}
}

func TestAMessageThatBreaksARuleOfItsKindIsNotWellFormed(t *testing.T) {
	bare := []wire.Kind{wire.KindAck, wire.KindCommit}
	about := []wire.Kind{wire.KindInquiry}
	questions := []wire.Kind{wire.KindAsk, wire.KindHeard, wire.KindInquiry, wire.KindSeen}
	others := func(kinds ...wire.Kind) []wire.Kind {
		return slices.DeleteFunc(wire.Kinds(), func(k wire.Kind) bool { return slices.Contains(kinds, k) })
	}
	whole, empty := others(append(bare, about...)...), append(bare, about...)
	for _, tc := range []struct {
		name string
		of   []wire.Kind
		do   func(m *wire.Message)
	}{
		{"no kind", wire.Kinds(), func(m *wire.Message) { m.Kind = 0 }},
		{"a kind of another protocol", wire.Kinds(), func(m *wire.Message) { m.Kind = 200 }},
		{"no question", questions, func(m *wire.Message) { m.Handoff = 0 }},
		{"a nonce", others(withNonce()...), func(m *wire.Message) { m.Nonce = 1 }},
		{"no nonce", withNonce(), func(m *wire.Message) { m.Nonce = 0 }},
		{"no fencing number", others(about...), func(m *wire.Message) { m.Token.Seq = 0 }},
		{"nobody generated it", whole, func(m *wire.Message) { m.Token.ID.Generator = wire.MemberID{} }},
		{"a generator", empty, func(m *wire.Message) { m.Token.ID.Generator = wire.MemberID{6} }},
		{"a lap", empty, func(m *wire.Message) { m.Token.Route.Lap = 1 }},
		{"a cursor", empty, func(m *wire.Message) { m.Token.Route.Cursor = 1 }},
		{"a missed member", empty, func(m *wire.Message) { m.Token.Route.Miss(1, 1) }},
		{"a guardian", empty, func(m *wire.Message) { m.Token.Trail.Add(wire.MemberID{6}) }},
		{"a duration of the operation", empty, func(m *wire.Message) { m.Token.Op = 1 }},
		{"an age", empty, func(m *wire.Message) { m.Token.Age = 1 }},
		{"a birth", about, func(m *wire.Message) { m.Token.ID.Birth = 1 }},
		{"a random id", about, func(m *wire.Message) { m.Token.ID.Random = 1 }},
		{"a fencing number", about, func(m *wire.Message) { m.Token.Seq = 1 }},
	} {
		for _, kind := range tc.of {
			t.Run(kind.String()+"/"+tc.name, func(t *testing.T) {
				m := wholeMessage(kind)
				if !wander.Family().WellFormed(&m) {
					t.Fatal("the message is not well formed before it is changed")
				}
				if tc.do(&m); wander.Family().WellFormed(&m) {
					t.Error("it is well formed")
				}
			})
		}
	}
}

func TestTheLimitsOfEachKindAreWellFormed(t *testing.T) {
	for _, kind := range wire.Kinds() {
		m := wholeMessage(kind)
		if kind != wire.KindInquiry {
			m.Token.ID.Birth, m.Token.ID.Random, m.Token.Seq = 0, 0, 1
		}
		if m.Token.IsWhole() {
			m.Token.Route, m.Token.Trail, m.Token.Op, m.Token.Age = wire.Route{}, wire.Trail{}, 0, 0
		}
		if !wander.Family().WellFormed(&m) {
			t.Errorf("%v is not: %+v", kind, m)
		}
	}
}
