package ballot_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// "Seq = (epoch, hop), compared left to right" (rule 1)
func TestANumberIsAnEpochAndAHop(t *testing.T) {
	const counter, rank, hop = 1_700_000_000, 200, 8_388_607
	seq := wire.Seq(counter<<31 | rank<<23 | hop)
	e := ballot.EpochOf(seq)
	if e.String() != "1700000000.200" || e.Rank() != rank {
		t.Errorf("the epoch is %v", e)
	}
	if next := wire.Seq(counter<<31 | (rank+1)<<23); seq >= next {
		t.Error("the last hop is not before the next rank")
	}
	if ballot.EpochOf(wire.MaxSeq).String() != "4294967295.255" {
		t.Errorf("the last epoch is %v", ballot.EpochOf(wire.MaxSeq))
	}
	token := e.Token(wire.MemberID{1})
	if token.Seq != wire.Seq(e) || token.ID.Birth != counter*1e9 || token.ID.Random != uint64(e) || !token.IsWhole() {
		t.Errorf("its token is %+v", token)
	}
}

// The numbers of an epoch end; then the holder makes a new epoch, and no member repeats a number.
func TestATokenWithTheLastNumberIsSpent(t *testing.T) {
	c := newCircle(t, 3)
	token := ballot.EpochOf(epoch(5, 1)).Token(c.roster.ID(1))
	token.Seq += 8_388_350
	if !c.m[0].Accepts(token.Seq) {
		t.Fatal("the last hop but one is refused")
	}
	c.did(c.m[0].Hold(c.now, &token, 0, lease, nil))
	if !c.m[0].Spent() || c.m[0].Accepts(c.m[0].Token().Seq) {
		t.Error("the last hop is not the last")
	}
	c.stepUnsaved(0, func(m *ballot.Machine, _ *ballot.Outcome, out []policy.Effect) []policy.Effect {
		out, ok := m.Run(c.now, out)
		if ok {
			t.Error("it runs under a number that was used")
		}
		return out
	})
}
