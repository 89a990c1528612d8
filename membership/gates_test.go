package membership

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

func TestOtherMembersLearnOfGatesThatComeAndGo(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		one, two := f.start(1), f.start(2)
		f.within(time.Minute, "they see each other", allSee([]*host{one, two}, 1, 2))
		one.Announce(gateA)
		gateNew := wire.GateIDOf("new")
		for _, h := range []*host{one, two} {
			if view, err := h.SetGates([]wire.GateID{gateA, gateNew}); err != nil || !view.Follows(gateNew) {
				t.Fatalf("%v, %v", view, err)
			}
		}
		knows := func(gate wire.GateID, members int, met bool) func() bool {
			return func() bool {
				ids, known := two.peers.Current().Peers(gate)
				return len(ids) == members && known == met
			}
		}
		f.within(time.Minute, "both have the new gate", knows(gateNew, 2, false))
		f.within(time.Minute, "of the old one a token is known", knows(gateA, 2, true))
		if _, err := one.SetGates([]wire.GateID{gateNew}); err != nil {
			t.Fatal(err)
		}
		f.within(time.Minute, "one has left the old one", knows(gateA, 1, false))
		if _, err := one.SetGates([]wire.GateID{gateNew, gateA}); err != nil {
			t.Fatal(err)
		}
		f.within(time.Minute, "one is back, and has met no token", knows(gateA, 2, false))
	})
}

func TestARefusedListOfGatesLeavesTheAnnouncedOnes(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		one := f.start(1)
		if _, err := one.SetGates([]wire.GateID{gateA, gateA}); err == nil {
			t.Error("it takes one gate twice")
		}
		if !one.peers.Look(&View{}).Follows(gateA) {
			t.Error("it has lost its gate")
		}
	})
}

// "Who has declared a roster is counted by it": a member keeps what it has announced of a gate that stays.
func TestARosterStaysDeclaredWhileOtherGatesComeAndGo(t *testing.T) {
	strict, soft, other := wire.GateIDOf("strict"), wire.GateIDOf("soft"), wire.GateIDOf("other")
	before, err := peers.NewMetadata(peertest.KeyOf(1), []wire.GateID{strict, soft})
	if err != nil {
		t.Fatal(err)
	}
	before.Declare(strict, 7)
	before.Announce(strict)
	after, err := peers.NewMetadata(peertest.KeyOf(1), []wire.GateID{other, strict})
	if err != nil {
		t.Fatal(err)
	}
	after.Keep(&before)
	m := Member{Gates: after.Gates}
	if m.Declared(strict) != 7 || m.Declared(other) != 0 || m.Has(soft) || !m.HasMetToken(strict) ||
		m.HasMetToken(other) {
		t.Errorf("%+v", after)
	}
	alone, err := peers.NewMetadata(peertest.KeyOf(1), []wire.GateID{other})
	if err != nil {
		t.Fatal(err)
	}
	alone.Keep(&after)
	b := alone.Encode(peertest.PrivateOf(1), "n", peertest.AddrOf(1))
	if _, err := peers.ParseMetadata(b); err != nil {
		t.Errorf("without the strict gate: %v", err)
	}
}
