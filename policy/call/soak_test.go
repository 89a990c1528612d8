package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// soak is how long hosts soak in these tests.
const soak = 10 * time.Minute

// soaks is a fleet whose member 2 has run, and its host soaks.
func soaks(t *testing.T) *fleet {
	t.Helper()
	f := newGate(t, 6, &call.Settings{Skip: skip, Backups: 2, Soak: soak})
	f.run(2)
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.sent, f.runs, f.notes = nil, nil, nil
	f.step(2, policy.Event{Kind: policy.Soaks, Soak: soak})
	f.advance(skip)
	return f
}

// reviver is the member that holds the token while member 2 is dead.
func (f *fleet) reviver() int {
	return slices.IndexFunc(f.members, func(m policy.Machine) bool {
		return m != f.members[2] && m.Status(f.now).Holding
	})
}

// told is what the last message of a kind tells of a soak.
func (f *fleet) told(kind wire.Kind) time.Duration {
	f.t.Helper()
	for _, m := range slices.Backward(f.sent) {
		if m.Kind == kind {
			return guardian.SoakLeft(&m.Load)
		}
	}
	f.t.Fatalf("nobody sends %v", kind)
	return 0
}

func TestACallerWaitsForTheEndOfTheSoakOfADeadHost(t *testing.T) {
	f := soaks(t)
	f.down[2] = true
	f.advance(2 * time.Minute)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(4 * time.Minute)
	holder := f.reviver()
	if !slices.Contains(f.notes, call.NoteRevived) || holder < 0 || len(f.runs) > 0 {
		t.Fatalf("the token is with %d, and these have run: %v", holder, f.runs)
	}
	status := f.members[holder].Status(f.now)
	if status.Phase != "resting" || status.Why != soft.WhyUnused {
		t.Errorf("the holder is %s, and %s", status.Phase, status.Why)
	}
	if f.advance(4*time.Minute - 2*skip); len(f.runs) > 0 {
		t.Fatalf("these have run before the soak was over: %v", f.runs)
	}
	f.advance(2 * time.Minute) // What was left was told rounded up.
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// Nobody waits, so nobody suspects the holder, and nothing is sent. The homes count by themselves.
func TestNobodyWaitsForASoakThatIsOver(t *testing.T) {
	f := soaks(t)
	f.down[2] = true
	f.sent = nil
	f.advance(soak + soak/8)
	if len(f.sent) > 0 {
		t.Errorf("%d messages are sent, the first one of kind %v", len(f.sent), f.sent[0].Kind)
	}
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(2 * skip)
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// The guardian that has revived the token waits for a run itself.
func TestAHomeThatWaitsKeepsTheTokenUnusedToo(t *testing.T) {
	f := soaks(t)
	var homes []int
	for _, fact := range f.members[2].Facts(f.now, nil) {
		if fact.Key == policy.KeyGuardian {
			homes = append(homes, int(fact.Member[0])-1)
		}
	}
	f.down[2] = true
	for _, home := range homes {
		f.step(home, policy.Event{Kind: policy.Wanted})
	}
	if f.advance(9 * time.Minute); len(f.runs) > 0 {
		t.Fatalf("these have run: %v", f.runs)
	}
	f.advance(2 * time.Minute)
	if len(f.runs) == 0 || !slices.Contains(homes, f.runs[0]) {
		t.Errorf("these have run: %v", f.runs)
	}
}

func TestHomesHearOfTheEndOfASoakThatComesEarly(t *testing.T) {
	f := soaks(t)
	if left := f.told(guardian.KindHeartbeat); left < soak {
		t.Fatalf("the homes are told of %v", left)
	}
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(skip)
	if left := f.told(guardian.KindHeartbeat); left != 0 {
		t.Fatalf("the homes are told of %v", left)
	}
	f.down[2] = true
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(18 * skip / 10)
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("after 1.8 skips these have run: %v", f.runs)
	}
}

func TestAMemberThatLeavesPassesOnWhatIsLeftOfASoak(t *testing.T) {
	f := soaks(t)
	f.down[2] = true
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(4 * time.Minute)
	first := f.reviver()
	f.step(first, policy.Event{Kind: policy.Leave})
	f.advance(skip)
	if next := f.reviver(); next == first || next < 0 {
		t.Fatalf("the token is with %d", next)
	}
	if f.advance(5 * time.Minute); len(f.runs) > 0 {
		t.Errorf("these have run: %v", f.runs)
	}
}

// A stop cuts the soak short for this host, and not for the others.
func TestAMemberThatIsStoppedInItsSoakPassesOnWhatIsLeft(t *testing.T) {
	f := soaks(t)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.step(2, policy.Event{Kind: policy.Leave})
	f.step(2, policy.Event{Kind: policy.Finished, SoakGoesOn: true})
	f.advance(9 * time.Minute)
	if len(f.left) == 0 || f.holder() < 0 || len(f.runs) > 0 {
		t.Fatalf("these have left: %v, and these have run: %v", f.left, f.runs)
	}
	f.advance(2 * time.Minute)
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// All that wait while a host soaks have their turns afterwards, as ever.
func TestASoakThatIsOverLetsWaitersIn(t *testing.T) {
	f := soaks(t)
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(soak)
	if len(f.runs) > 0 {
		t.Fatalf("these have run: %v", f.runs)
	}
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(skip)
	if !slices.Equal(f.runs, []int{4}) {
		t.Errorf("these have run: %v", f.runs)
	}
}
