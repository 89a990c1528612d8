package wander_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// wholeMessage has everything that a message of any kind may have.
func wholeMessage(kind wire.Kind) wire.Message {
	m := wire.Message{
		Gate: 1, Kind: kind, From: wire.MemberID{1}, To: wire.MemberID{2}, Exchange: 3, Nonce: 4,
		Token: wire.Ref{ID: wire.TokenID{Birth: 5, Generator: wire.MemberID{6}, Random: 7}, Seq: 8, Slot: 1},
	}
	wander.SetLastSlot(&m.Load, 2)
	switch {
	case kind == wander.KindInquiry:
		m.Token = wire.Ref{Slot: 1}
	case kind == wander.KindUnseen:
		m.Token = wire.Ref{Slot: 1}
		guardian.SetTrail(&m.Load, &guardian.Trail{{12}})
	case kind == handoff.KindAck || kind == handoff.KindCommit:
		m.Token, m.Load = m.Token.Bare(), wire.Load{}
	default:
		guardian.SetTrail(&m.Load, &guardian.Trail{{12}, {13}})
		wander.SetRoute(&m.Load, &wander.Route{
			Lap: 11, Cursor: 14, Missed: [wander.MaxMissed]uint32{15, 16}, Tries: [wander.MaxMissed]uint8{2, 1},
		})
		wander.SetOp(&m.Load, 9)
		wander.SetAge(&m.Load, 10)
		wander.SetMixed(&m.Load, 16*time.Second)
	}
	if !slices.Contains(withNonce(), kind) {
		m.Nonce = 0
	}
	return m
}

// kinds are all kinds of message of a soft gate.
func kinds() (all []wire.Kind) {
	for _, k := range wander.Kinds() {
		all = append(all, k.Kind)
	}
	return all
}

func withNonce() []wire.Kind {
	return []wire.Kind{
		handoff.KindAck, handoff.KindCommit, guardian.KindHeartbeat, guardian.KindHeard, wander.KindSeen,
		wander.KindUnseen, guardian.KindKeep,
	}
}

func TestAMessageThatBreaksARuleOfItsKindIsNotWellFormed(t *testing.T) {
	bare := []wire.Kind{handoff.KindAck, handoff.KindCommit}
	about := []wire.Kind{wander.KindInquiry, wander.KindUnseen}
	questions := []wire.Kind{
		guardian.KindAsk, guardian.KindHeard, wander.KindInquiry, wander.KindSeen,
		wander.KindIntent, wander.KindConsent, wander.KindObjection, wander.KindUnseen, guardian.KindKeep,
		guardian.KindKept,
	}
	others := func(but ...wire.Kind) []wire.Kind {
		return slices.DeleteFunc(kinds(), func(k wire.Kind) bool { return slices.Contains(but, k) })
	}
	whole, empty := others(append(bare, about...)...), append(bare, about...)
	for _, tc := range []struct {
		name string
		of   []wire.Kind
		do   func(m *wire.Message)
	}{
		{"no kind", kinds(), func(m *wire.Message) { m.Kind = 0 }},
		{"a kind of another protocol", kinds(), func(m *wire.Message) { m.Kind = 200 }},
		{"no question", questions, func(m *wire.Message) { m.Exchange = 0 }},
		{"a nonce", others(append(withNonce(), guardian.KindKept)...), func(m *wire.Message) { m.Nonce = 1 }},
		{"no nonce", withNonce(), func(m *wire.Message) { m.Nonce = 0 }},
		{"no fencing number", others(about...), func(m *wire.Message) { m.Token.Seq = 0 }},
		{"nobody generated it", whole, func(m *wire.Message) { m.Token.ID.Generator = wire.MemberID{} }},
		{"a generator", empty, func(m *wire.Message) { m.Token.ID.Generator = wire.MemberID{6} }},
		{"a lap", append(bare, wander.KindInquiry), func(m *wire.Message) {
			wander.SetRoute(&m.Load, &wander.Route{Lap: 1})
		}},
		{"a cursor", append(bare, wander.KindInquiry), func(m *wire.Message) {
			wander.SetRoute(&m.Load, &wander.Route{Cursor: 1})
		}},
		{"a time without a token below zero", []wire.Kind{wander.KindUnseen}, func(m *wire.Message) {
			wander.SetQuiet(&m.Load, -1)
		}},
		{"a missed member", empty, func(m *wire.Message) { miss(m, 0, 1) }},
		{"two that ask", []wire.Kind{wander.KindUnseen}, func(m *wire.Message) { appoint(m, 1, wire.MemberID{6}) }},
		{"nobody that asks", []wire.Kind{wander.KindUnseen}, func(m *wire.Message) { appoint(m, 0, wire.MemberID{}) }},
		{"a guardian", append(bare, wander.KindInquiry), func(m *wire.Message) {
			guardian.SetTrail(&m.Load, &guardian.Trail{{6}})
		}},
		{"a duration of the operation", empty, func(m *wire.Message) { wander.SetOp(&m.Load, 1) }},
		{"slots that differ", empty, func(m *wire.Message) { wander.SetMixed(&m.Load, 1) }},
		{"an age", empty, func(m *wire.Message) { wander.SetAge(&m.Load, 1) }},
		{"a last slot", bare, func(m *wire.Message) { wander.SetLastSlot(&m.Load, 2) }},
		{"a missed member that nobody tried", whole, func(m *wire.Message) { miss(m, 1, 0) }},
		{"a missed member tried too often", whole, func(m *wire.Message) { miss(m, 1, wander.MaxTries+1) }},
		{"a missed member after an empty place", whole, func(m *wire.Message) { miss(m, 3, 1) }},
		{"no first guardian, but a second", whole, func(m *wire.Message) { appoint(m, 0, wire.MemberID{}) }},
		{"a guardian after an empty place", whole, func(m *wire.Message) { appoint(m, 3, wire.MemberID{14}) }},
		{"a guardian named twice", whole, func(m *wire.Message) { appoint(m, 1, wire.MemberID{12}) }},
		{"a guardian named twice, not in a row", whole, func(m *wire.Message) { appoint(m, 2, wire.MemberID{12}) }},
		{"an age below zero", whole, func(m *wire.Message) { wander.SetAge(&m.Load, -1) }},
		{"an age that could wrap", whole, func(m *wire.Message) { wander.SetAge(&m.Load, wander.MaxAge+1) }},
		{"a slot above the last", others(bare...), func(m *wire.Message) { m.Token.Slot = 3 }},
		{"more slots than a gate can have", others(bare...), func(m *wire.Message) {
			wander.SetLastSlot(&m.Load, wire.MaxSlots)
		}},
		{"a soak", empty, func(m *wire.Message) { guardian.SetSoakLeft(&m.Load, time.Second) }},
		{"a birth", about, func(m *wire.Message) { m.Token.ID.Birth = 1 }},
		{"a random id", about, func(m *wire.Message) { m.Token.ID.Random = 1 }},
		{"a fencing number", about, func(m *wire.Message) { m.Token.Seq = 1 }},
	} {
		for _, kind := range tc.of {
			t.Run(wander.Kinds().Of(kind).Name+"/"+tc.name, func(t *testing.T) {
				m := wholeMessage(kind)
				if !wander.Descriptor().WellFormed(&m) {
					t.Fatal("the message is not well formed before it is changed")
				}
				if tc.do(&m); wander.Descriptor().WellFormed(&m) {
					t.Error("it is well formed")
				}
			})
		}
	}
}

// miss makes the token carry that a member was tried that often.
func miss(m *wire.Message, place int, tries uint8) {
	route := wander.RouteOf(&m.Load)
	route.Tries[place] = tries
	wander.SetRoute(&m.Load, &route)
}

// appoint puts a guardian into a place of the token's trail.
func appoint(m *wire.Message, place int, id wire.MemberID) {
	trail := guardian.TrailOf(&m.Load)
	trail[place] = id
	guardian.SetTrail(&m.Load, &trail)
}

func TestTheLimitsOfEachKindAreWellFormed(t *testing.T) {
	for _, kind := range kinds() {
		for name, load := range map[string]func(l *wire.Load){
			"as it was made": func(l *wire.Load) { *l = wire.Load{} },
			"everybody missed": func(l *wire.Load) {
				route := wander.Route{Lap: math.MaxUint32, Cursor: math.MaxUint64}
				for i := range route.Missed {
					route.Missed[i], route.Tries[i] = uint32(i), wander.MaxTries
				}
				wander.SetRoute(l, &route)
			},
			"all guardians":         func(l *wire.Load) { guardian.SetTrail(l, &guardian.Trail{{1}, {2}, {3}, {4}}) },
			"the longest operation": func(l *wire.Load) { wander.SetOp(l, math.MaxUint32) },
			"slots that differed":   func(l *wire.Load) { wander.SetMixed(l, (math.MaxUint16-1)*time.Second) },
			"as old as can be told": func(l *wire.Load) { wander.SetAge(l, wander.MaxAge) },
		} {
			m := wholeMessage(kind)
			if kind != wander.KindInquiry && kind != wander.KindUnseen {
				m.Token.ID.Birth, m.Token.ID.Random, m.Token.Seq = 0, 0, 1
			}
			if m.Token.IsWhole() {
				load(&m.Load)
			}
			for _, slots := range [][2]uint8{{0, 0}, {0, wire.MaxSlots - 1}, {wire.MaxSlots - 1, wire.MaxSlots - 1}} {
				m.Token.Slot = slots[0]
				if kind != handoff.KindAck && kind != handoff.KindCommit {
					wander.SetLastSlot(&m.Load, slots[1])
				}
				if !wander.Descriptor().WellFormed(&m) {
					t.Errorf("%v, %s, slot %d of %d, is not: %+v", kind, name, slots[0], slots[1], m)
				}
			}
		}
	}
}
