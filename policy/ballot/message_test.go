package ballot_test

import (
	"encoding/hex"
	"testing"

	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/wire"
)

// A message keeps all its fields on the wire, byte for byte.
func TestALoadHasTheLayoutThatItSays(t *testing.T) {
	c := newCircle(t, 3)
	c.m[2].Keep(&ballot.Copy{Seq: 0x0102030405060708, Data: [ballot.CopySize]byte{0: 0xaa, ballot.CopySize - 1: 0xbb}})
	answer := c.receive(c.ask(ballot.KindPromise, 0, 2, epoch(5, 0), 0x77))[0]
	var b []byte
	b = answer.Append(b)
	read, ok := wire.Parse(b)
	if !ok || read != answer || !ballot.WellFormed(&read) {
		t.Fatalf("sent %+v, read %+v", answer, read)
	}
	load := hex.EncodeToString(read.Load[:])
	if load[16:32] != "0000000000000000" || load[32:48] != "0102030405060708" || load[80:82] != "aa" ||
		load[222:] != "bb" {
		t.Errorf("the load is %s", load)
	}
	if load[48:64] != "000003480d8ef000" { // an hour and eight seconds
		t.Errorf("the clock is %s", load[48:64])
	}
}

func TestAMessageThatBreaksARuleOfItsKindIsNotWellFormed(t *testing.T) {
	c := newCircle(t, 3)
	roster := c.roster.Hash()
	for _, kind := range []wire.Kind{
		ballot.KindPromise, ballot.KindRenew, ballot.KindPromised, ballot.KindRenewed, ballot.KindRefused,
		ballot.KindRelease,
	} {
		question := kind == ballot.KindPromise || kind == ballot.KindRenew
		good := c.ask(ballot.KindRenew, 0, 2, epoch(5, 0), 1)
		good.Kind = kind
		if !question {
			ballot.SetLoad(&good.Load, roster, 0, 0)
		}
		if kind == ballot.KindRelease {
			good.Exchange = 0
		}
		if !ballot.WellFormed(&good) {
			t.Errorf("%s: not well-formed", policytest.Settings{}.Descriptor().Kinds.Of(kind).Name)
		}
		for name, change := range map[string]func(*wire.Message){
			"no epoch":         func(m *wire.Message) { m.Token.Seq = 5 },
			"no generator":     func(m *wire.Message) { m.Token.ID.Generator = wire.MemberID{} },
			"a nonce":          func(m *wire.Message) { m.Nonce = 1 },
			"another number":   func(m *wire.Message) { m.Exchange = 1 - m.Exchange },
			"a negative lease": func(m *wire.Message) { ballot.SetLoad(&m.Load, roster, -1, 0) },
			"another lease": func(m *wire.Message) {
				span := lease
				if question {
					span = 0
				}
				ballot.SetLoad(&m.Load, roster, span, 0)
			},
			"another kind": func(m *wire.Message) { m.Kind = policytest.KindRequest },
		} {
			bad := good
			mayBeBusy := kind == ballot.KindRefused || kind == ballot.KindRenewed
			if change(&bad); ballot.WellFormed(&bad) && (!mayBeBusy || name != "another lease") {
				t.Errorf("%s with %s is well-formed", policytest.Settings{}.Descriptor().Kinds.Of(kind).Name, name)
			}
		}
	}
}
