package call_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

const keep = 15 * time.Minute

// keeping is a fleet of five whose grants outlive their hosts, with a token that rests at member 2.
func keeping(t *testing.T) *fleet {
	t.Helper()
	f := newGate(t, 5, &call.Settings{Skip: skip, Backups: 2, Keep: keep})
	f.run(2)
	f.sent, f.runs, f.notes = nil, nil, nil
	return f
}

// goDown lets member 2 run, and its host go down; others want to run.
func (f *fleet) goDown() {
	f.t.Helper()
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	if !slices.Equal(f.runs, []int{2}) {
		f.t.Fatalf("%v run", f.runs)
	}
	f.fail(2)
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
}

// fail stops a host, and takes it out of the views of the others.
func (f *fleet) fail(i int) {
	f.down[i] = true
	f.advance(6 * skip)
	f.see()
}

// see gives all members a view of those that are here.
func (f *fleet) see() {
	var here []wire.MemberID
	for i := range f.members {
		if !f.down[i] {
			here = append(here, id(i))
		}
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.PeersChanged, Peers: here})
	}
}

// comeBack starts members with what they have saved.
func (f *fleet) comeBack(who ...int) {
	for _, i := range who {
		f.down[i] = false
		f.members[i] = f.newMember(i)
		f.step(i, policy.Event{Kind: policy.Started, State: f.saved[i]})
	}
	f.see()
}

func (f *fleet) wantRuns(want ...int) {
	f.t.Helper()
	if !slices.Equal(f.runs, want) {
		f.t.Fatalf("%v run, want %v", f.runs, want)
	}
}

func TestNobodyRunsWhileAHostIsAwayUnderItsGrant(t *testing.T) {
	f := keeping(t)
	f.goDown()
	f.advance(keep - 20*skip)
	f.wantRuns(2)
	f.comeBack(2)
	f.advance(keep) // It is being looked at, and says that it is here.
	f.wantRuns(2)
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(3 * skip)
	if len(f.runs) != 2 {
		t.Fatalf("%v run, want one more", f.runs)
	}
}

// The first run of a fleet reboots its host, which has made the token, and the guardian of that grant goes down, too.
// The others have met no token yet, but they have been told of this one.
func TestNobodyMakesATokenWhileTheHostThatHasTheFirstOneIsAway(t *testing.T) {
	var f *fleet
	for first := 0; f == nil || slices.ContainsFunc(f.sent, isToken); first++ {
		f = newGate(t, 5, &call.Settings{Skip: skip, Backups: 1, Keep: keep})
		f.step(first, policy.Event{Kind: policy.Wanted})
		f.advance(skip)
	}
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	f.advance(skip / 2) // They are told who holds the token.
	for i, s := range f.saved {
		f.down[i] = s.Kept.Is()
	}
	f.advance(6 * skip)
	f.see()
	f.advance(keep - 20*skip)
	if len(f.runs) != 1 {
		t.Errorf("%v run while the hosts that know of the grant are away", f.runs)
	}
}

func isToken(m wire.Message) bool { return m.Kind == handoff.KindToken }

func TestAHostThatStaysAwayLosesItsGrant(t *testing.T) {
	f := keeping(t)
	f.goDown()
	f.advance(keep + 10*skip)
	if len(f.runs) != 2 || f.runs[1] == 2 {
		t.Fatalf("%v run, want one more", f.runs)
	}
	f.comeBack(2)
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(10 * skip)
	if s := f.members[2].Status(f.now); s.Holding || len(f.runs) != 2 {
		t.Fatalf("it still holds %+v, and %v run", s.Token, f.runs)
	}
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(10 * skip)
	if len(f.runs) != 2 {
		t.Errorf("%v run beside a run", f.runs)
	}
}

func TestGuardiansThatRestartKeepTheGrant(t *testing.T) {
	f := keeping(t)
	f.goDown()
	f.comeBack(0, 1, 3, 4)
	for i := range f.members {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	f.advance(keep - 20*skip)
	f.wantRuns(2)
	f.advance(40 * skip)
	if len(f.runs) != 2 {
		t.Fatalf("%v run, want one more", f.runs)
	}
}

func TestARunWaitsForItsGuardians(t *testing.T) {
	f := keeping(t)
	f.lost = func(m *wire.Message) bool { return m.Kind == guardian.KindKept }
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(10 * skip)
	f.wantRuns()
	f.lost = nil
	f.advance(10 * skip)
	f.wantRuns(2)
}

func TestOneGuardianIsEnough(t *testing.T) {
	f := keeping(t)
	silent := wire.MemberID{}
	f.lost = func(m *wire.Message) bool {
		if m.Kind == guardian.KindKept && silent.IsZero() {
			silent = m.From
		}
		return m.Kind == guardian.KindKept && m.From == silent
	}
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.wantRuns(2)
}

// What outlives its host is the grant, not the rest of its token afterwards.
func TestAKeptGrantEndsWithItsRun(t *testing.T) {
	f := keeping(t)
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(skip)
	for i, s := range f.saved {
		if s.Kept.Is() {
			t.Errorf("member %d still keeps the grant of %v", i, s.Kept.Holder)
		}
	}
	f.down[2] = true
	f.step(1, policy.Event{Kind: policy.Wanted})
	f.advance(6 * skip)
	f.wantRuns(2, 1)
}

// The host comes back before it sees anybody, and its run is over: others may have gone on without it.
func TestAHostThatIsBackAloneRunsNothing(t *testing.T) {
	f := keeping(t)
	f.goDown()
	f.advance(keep + 10*skip)
	runs := len(f.runs)
	f.down[2] = false
	env := policy.Env{Gate: 7, Self: id(2), OnDemand: true, Rejoins: true, Entropy: f.entropy(2)}
	f.members[2] = f.settings.Machine(env)
	f.step(2, policy.Event{Kind: policy.Started, State: f.saved[2]})
	f.step(2, policy.Event{Kind: policy.PeersChanged, Peers: []wire.MemberID{id(2)}})
	f.lost = func(m *wire.Message) bool { return m.From == id(2) || m.To == id(2) }
	f.step(2, policy.Event{Kind: policy.Finished})
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(30 * skip)
	if slices.Contains(f.runs[runs:], 2) {
		t.Errorf("%v run", f.runs)
	}
}

// A holder numbers its heartbeats, and one that is back begins again. Its guardians hear it all the same: else those
// that it does not choose again would not learn that they guard its token no longer, and would revive it later.
func TestAHostThatIsBackReleasesTheGuardiansThatItDoesNotChooseAgain(t *testing.T) {
	f := keeping(t)
	f.goDown()
	f.advance(skip)
	f.comeBack(2)
	f.advance(3 * delay) // They have heard that it is back.
	f.notes = nil
	f.step(2, policy.Event{Kind: policy.Finished})
	f.advance(skip / 2)
	stray := slices.ContainsFunc(f.notes, func(n policy.Note) bool { return n == guardian.NoteStrayWord })
	if stray {
		t.Error("a guardian takes the heartbeat of the host that is back for an old one")
	}
}

// A run that asks whether its grant is still kept hears of it only from those who keep it.
func TestARunHearsFromAGuardianThatItsGrantIsKept(t *testing.T) {
	f := keeping(t)
	asks := f.members[2].(policy.Keeper)
	if asks.AskKeepers() || asks.KeepersAnswered() {
		t.Fatal("nothing runs, and there is a grant to ask for")
	}
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.wantRuns(2)
	f.lost = func(m *wire.Message) bool { return m.Kind == guardian.KindKept }
	if !asks.AskKeepers() {
		t.Fatal("a run under a kept grant cannot ask")
	}
	f.advance(2 * skip)
	if asks.KeepersAnswered() {
		t.Error("nobody has answered, and the grant is confirmed")
	}
	f.lost = nil
	if f.advance(skip); !asks.KeepersAnswered() {
		t.Error("a guardian has answered, and the grant is not confirmed")
	}
	f.step(2, policy.Event{Kind: policy.Finished})
	if asks.AskKeepers() || asks.KeepersAnswered() {
		t.Error("the run is over, and its grant is kept")
	}
}

// A fleet that was there before and knows of no token may have hosts that are away under their grants: it makes no
// token before they must be back. A new fleet has none.
func TestAFleetThatWasThereBeforeWaitsForHostsThatMayBeAway(t *testing.T) {
	for _, rejoins := range []bool{false, true} {
		f := newGate(t, 5, &call.Settings{Skip: skip, Backups: 2, Keep: keep})
		for i := range f.members {
			f.members[i] = f.settings.Machine(policy.Env{
				Gate: 7, Self: id(i), OnDemand: true, Rejoins: rejoins, Entropy: f.entropy(i),
			})
			f.step(i, policy.Event{Kind: policy.Started})
		}
		f.see()
		f.advance(10 * skip)
		f.step(3, policy.Event{Kind: policy.Wanted})
		if f.advance(keep / 2); (len(f.runs) == 0) != rejoins {
			t.Errorf("it was there before: %v, and %v run", rejoins, f.runs)
		}
	}
}
