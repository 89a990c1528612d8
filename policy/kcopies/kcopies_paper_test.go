package kcopies_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

var theToken = wire.TokenID{Birth: 1, Generator: siteID(0), Random: 7}

func siteID(i int) wire.MemberID { return wire.MemberID{15: byte(i + 1)} }

func ringOf(n int) []wire.MemberID {
	ring := make([]wire.MemberID, n)
	for i := range ring {
		ring[i] = siteID(i)
	}
	return ring
}

// without is the detector's view after these sites have crashed.
func without(ring []wire.MemberID, crashed ...kcopies.Site) []wire.MemberID {
	live := make([]wire.MemberID, 0, len(ring))
	for i, id := range ring {
		dead := false
		for _, c := range crashed {
			dead = dead || int(c) == i
		}
		if !dead {
			live = append(live, id)
		}
	}
	return live
}

func siteOf(n, k int, self kcopies.Site, first kcopies.Site) (kcopies.Machine, *kcopies.Config) {
	cfg := &kcopies.Config{Gate: 9, Ring: ringOf(n), Self: self, K: k, ID: theToken}
	return kcopies.New(cfg, first, kcopies.Data{1}), cfg
}

func addressees(out []policy.Effect) (to []wire.MemberID) {
	for i := range out {
		if out[i].Kind == policy.Send {
			to = append(to, out[i].Msg.To)
		}
	}
	return to
}

// tokenFrom is <TOKEN, S_T, count> from the site before S_T to another one.
func tokenFrom(t *testing.T, n, k int, st, to kcopies.Site, count wire.Seq) wire.Message {
	t.Helper()
	before := kcopies.Site((int(st) + n - 1) % n)
	sender, _ := siteOf(n, k, before, before)
	sender.Issue(count - 1)
	for _, e := range sender.SafeSendToken(&kcopies.Data{42}, nil) {
		if e.Kind == policy.Send && e.Msg.To == siteID(int(to)) {
			return e.Msg
		}
	}
	t.Fatalf("S%d sends nothing to S%d", before, to)
	return wire.Message{}
}

// "we assume that S0 holds the token. Hence, each process S_i ∈ {S_1 … S_k} has a copy of the token and initializes its
// respective D to {S_0 … S_i}. […] All the other processes of the system do not keep any valid copy" (section 2.2,
// lines 3–15).
func TestInitialisation(t *testing.T) {
	for i, want := range []struct {
		token kcopies.Token
		d     int
	}{{kcopies.Real, 1}, {kcopies.Backup, 2}, {kcopies.Backup, 3}, {kcopies.None, 0}, {kcopies.None, 0}} {
		m, _ := siteOf(5, 2, kcopies.Site(i), 0)
		if m.Token() != want.token || m.D() != want.d || m.Count() != 0 {
			t.Errorf("S%d: %v, want %v with #(D) = %d", i, &m, want.token, want.d)
		}
	}
}

// Lines 16–21: "count ← count + 1; send <TOKEN, S_i+1, count> to {S_i+1 … S_i+k+1}; token ← NONE; D ← {}".
func TestSafeSendTokenSendsToItsKPlusOneSuccessors(t *testing.T) {
	m, _ := siteOf(6, 3, 4, 4)
	out := m.SafeSendToken(&kcopies.Data{42}, nil)
	to := addressees(out)
	if want := []wire.MemberID{siteID(5), siteID(0), siteID(1), siteID(2)}; len(to) != 4 ||
		[4]wire.MemberID(to) != [4]wire.MemberID(want) {
		t.Errorf("sent to %v, want %v", to, want)
	}
	if m.Token() != kcopies.None || m.D() != 0 || m.Count() != 1 {
		t.Errorf("the sender is %v", &m)
	}
}

// Lines 22–33: the three things that a message leads to, and that an old one leads to nothing.
func TestSafeReceiveToken(t *testing.T) {
	token := tokenFrom(t, 5, 2, 3, 3, 8)
	m, _ := siteOf(5, 2, 3, 0)
	var end kcopies.Outcome
	m.Receive(&token, &end, nil)
	if end.Ending != kcopies.Delivered || end.Data[0] != 42 || m.Token() != kcopies.Real || m.D() != 1 ||
		m.Count() != 8 {
		t.Errorf("the token led to %v and %v", end.Ending, &m)
	}

	end = kcopies.Outcome{}
	old := tokenFrom(t, 5, 2, 2, 3, 8)
	if m.Expects(&old) {
		t.Error("an old message is expected")
	}
	if m.Receive(&old, &end, nil); end.Ending != kcopies.Pending || m.Token() != kcopies.Real {
		t.Errorf("an old message led to %v and %v", end.Ending, &m)
	}

	m, _ = siteOf(5, 2, 3, 0)
	backup := tokenFrom(t, 5, 2, 1, 3, 8)
	if m.Receive(&backup, &end, nil); end.Ending != kcopies.Pending || m.Token() != kcopies.Backup || m.D() != 3 {
		t.Errorf("a copy led to %v and %v", end.Ending, &m)
	}

	m, _ = siteOf(5, 2, 3, 4)
	if m.Suspect(without(ringOf(5), 1, 2), &end, nil); end.Ending != kcopies.Pending {
		t.Errorf("without a copy, suspicions led to %v", end.Ending)
	}
	if m.Receive(&backup, &end, nil); end.Ending != kcopies.MayRegenerate {
		t.Errorf("a copy whose holder and first backup have crashed led to %v", end.Ending)
	}
}

// Lines 34–42: "If all the processes whose liveness it monitors have crashed, S_i calls the function UseBackup()",
// which adds "the number of nodes that S_i has detected as crashed" to the count.
func TestUseBackup(t *testing.T) {
	m, cfg := siteOf(5, 2, 2, 0)
	var end kcopies.Outcome
	m.Suspect(without(cfg.Ring, 0), &end, nil)
	if m.UseBackup(0, &end, nil); end.Ending != kcopies.Pending {
		t.Fatalf("with S1 alive, S2 gets %v", end.Ending)
	}
	if m.Suspect(without(cfg.Ring, 0, 1), &end, nil); end.Ending != kcopies.MayRegenerate ||
		m.Token() != kcopies.Backup {
		t.Fatalf("with S0 and S1 suspected, S2 gets %v and is %v", end.Ending, &m)
	}
	m.UseBackup(0, &end, nil)
	if end.Ending != kcopies.Regenerated || end.Crashed != 2 || end.Data[0] != 1 || m.Token() != kcopies.Real ||
		m.Count() != 2 || m.D() != 1 {
		t.Errorf("UseBackup led to %+v and %v", end, &m)
	}
}

// Line 37 as printed calls UseBackup whenever D/F = {S_i}, which is so at every holder: it would deliver the token
// twice.
func TestAHolderThatHearsOfACrashDeliversNothing(t *testing.T) {
	m, cfg := siteOf(5, 2, 0, 0)
	var end kcopies.Outcome
	m.Suspect(without(cfg.Ring, 3), &end, nil)
	m.UseBackup(0, &end, nil)
	if end.Ending != kcopies.Pending || m.Token() != kcopies.Real {
		t.Errorf("a late suspicion led to %v", end.Ending)
	}
}

// A copy of a lost token does not become a token, and neither does one that comes later.
func TestADiscardedCopyIsNoCopy(t *testing.T) {
	m, cfg := siteOf(6, 3, 4, 1)
	late := tokenFrom(t, 6, 3, 1, 4, 8)
	m.Discard(8)
	var end kcopies.Outcome
	m.Receive(&late, &end, nil)
	if m.Suspect(without(cfg.Ring, 1, 2, 3), &end, nil); end.Ending != kcopies.Pending || m.Token() != kcopies.None {
		t.Errorf("a copy of before led to %v", end.Ending)
	}
	next := tokenFrom(t, 6, 3, 1, 4, 9)
	if m.Receive(&next, &end, nil); end.Ending != kcopies.MayRegenerate {
		t.Errorf("a copy of the next token led to %v", end.Ending)
	}
}

// A hop that leaves crashed sites out counts as if their successor had used its copy; with few members left the sender
// keeps a copy itself.
func TestAHopThatLeavesSitesOut(t *testing.T) {
	m, cfg := siteOf(4, 2, 0, 0)
	out := m.Hopped(2, &kcopies.Data{42}, nil)
	if to := addressees(out); len(to) != 1 || to[0] != siteID(3) || m.Token() != kcopies.Backup || m.D() != 3 ||
		m.Count() != 2 {
		t.Errorf("copies to %v, and the sender is %v", to, &m)
	}
	var end kcopies.Outcome
	m.Suspect(without(cfg.Ring, 1, 2, 3), &end, nil)
	if m.UseBackup(0, &end, nil); end.Ending != kcopies.Regenerated || end.Data[0] != 42 {
		t.Errorf("its copy is %v", end.Ending)
	}
}

func TestAStepAllocatesNothing(t *testing.T) {
	a, cfg := siteOf(3, 1, 0, 0)
	b, _ := siteOf(3, 1, 1, 0)
	c, _ := siteOf(3, 1, 2, 0)
	sites := []*kcopies.Machine{&a, &b, &c}
	holder, live := 0, cfg.Ring
	out := make([]policy.Effect, 0, 8)
	received := make([]policy.Effect, 0, 8)
	allocs := testing.AllocsPerRun(100, func() {
		out = sites[holder].SafeSendToken(&kcopies.Data{}, out[:0])
		for i := range out {
			if out[i].Kind == policy.Send {
				to := sites[int(out[i].Msg.To[15])-1]
				var end kcopies.Outcome
				received = to.Receive(&out[i].Msg, &end, received[:0])
				received = to.Suspect(live, &end, received[:0])
			}
		}
		holder = (holder + 1) % 3
	})
	if allocs != 0 {
		t.Errorf("a hop and its copies allocate %v times", allocs)
	}
}
