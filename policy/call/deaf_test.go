package call_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A token that is made by a first home that nobody hears is of no use: the second home makes one, after twice as long.
func TestTheSecondHomeMakesATokenIfNobodyHearsTheFirst(t *testing.T) {
	f := newFleet(t, 6)
	homes, caller := f.homes(), 0
	for slices.Contains(homes, caller) {
		caller++
	}
	f.lost = func(m *wire.Message) bool { return m.From == id(homes[0]) }
	f.step(caller, policy.Event{Kind: policy.Wanted})
	longest := 60 * call.Patience(skip) // Δmax of a gate on demand
	f.advance(2*longest - skip)
	if len(f.runs) > 0 {
		t.Errorf("before the second home may make a token, these have run: %v", f.runs)
	}
	f.advance(10 * skip)
	if !slices.Equal(f.runs, []int{caller}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// A holder that wants to run, and that hears nobody, does not keep others from reviving its token by its heartbeats.
func TestADeafHolderThatWantsToRunIsReplaced(t *testing.T) {
	f := withToken(t, 6)
	waiter, hears := f.caller(), true
	f.lost = func(m *wire.Message) bool { return m.To == id(2) && (!hears || m.Kind != call.KindNext) }
	f.step(2, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.step(waiter, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	hears = false // It has heard that another member waits.
	f.advance(30 * skip)
	if !slices.Equal(f.runs, []int{waiter}) {
		t.Errorf("these have run: %v", f.runs)
	}
}

// callersThatHearNothing are members that wait for the token and hear nothing. They are no homes.
func (f *fleet) callersThatHearNothing(n int) (deaf []int) {
	f.t.Helper()
	homes := f.homes()
	for i := range f.members {
		if len(deaf) < n && i != f.holder() && !slices.Contains(homes, i) {
			deaf = append(deaf, i)
		}
	}
	f.lost = func(m *wire.Message) bool { return slices.Contains(deaf, int(m.To[0])-1) }
	for _, i := range deaf {
		f.step(i, policy.Event{Kind: policy.Wanted})
	}
	return deaf
}

// Members that call, and do not answer when they are offered the token, may be several. They take turns with the
// others: they do not hold them up by offers to one of them after the other.
func TestCallersThatHearNothingDoNotKeepTheTokenFromOthers(t *testing.T) {
	f := withToken(t, 12)
	deaf := f.callersThatHearNothing(4)
	f.advance(140 * skip)
	for i := range f.members {
		if slices.Contains(deaf, i) {
			continue
		}
		f.runs = nil
		f.step(i, policy.Event{Kind: policy.Wanted})
		f.advance(40 * skip)
		f.step(i, policy.Event{Kind: policy.Finished})
		if !slices.Contains(f.runs, i) {
			t.Errorf("member %d has waited for 40 s: %v", i, f.members[i])
		}
	}
}

// The same for the holder itself: it comes again by age, but not after those that hear nothing.
func TestCallersThatHearNothingDoNotKeepTheTokenFromItsHolder(t *testing.T) {
	f := withToken(t, 12)
	f.callersThatHearNothing(4)
	f.advance(120 * skip)
	for range 5 {
		f.runs = nil
		f.step(2, policy.Event{Kind: policy.Wanted})
		f.advance(20 * skip)
		f.step(2, policy.Event{Kind: policy.Finished})
		if !slices.Equal(f.runs, []int{2}) {
			t.Errorf("the holder has waited for 20 s: %v", f.members[2])
		}
	}
}

// A member that did not answer once, and waits among others that never do, is offered the token in its turn.
func TestAMemberThatHearsAgainHasItsTurnAmongThoseThatHearNothing(t *testing.T) {
	f := withToken(t, 12)
	deaf := f.callersThatHearNothing(4)
	f.advance(60 * skip)
	again, others := deaf[3], deaf[:3]
	f.lost = func(m *wire.Message) bool { return slices.Contains(others, int(m.To[0])-1) }
	for range 10 { // Its holder wants it all the time, and runs for longer than they are silent.
		f.step(2, policy.Event{Kind: policy.Wanted})
		f.advance(40 * skip)
		f.step(2, policy.Event{Kind: policy.Finished})
	}
	if !slices.Contains(f.runs, again) {
		t.Errorf("these have run, and not %d: %v", again, f.runs)
	}
}

// A home whose answers to heartbeats are late is avoided by each holder. If it waits, it is offered the token in its
// turn all the same: where runs are shorter than its way, no holder would ever hear it.
func TestAHomeThatAnswersLateHasItsTurn(t *testing.T) {
	f := withToken(t, 6)
	homes, others := f.homes(), []int(nil)
	late := homes[0]
	if late == f.holder() {
		late = homes[1]
	}
	for i := range f.members {
		if i != late {
			others = append(others, i)
		}
	}
	f.lost = func(m *wire.Message) bool { return m.Kind == guardian.KindHeard && m.From == id(late) }
	f.step(late, policy.Event{Kind: policy.Wanted})
	for range 20 {
		for _, i := range others {
			f.step(i, policy.Event{Kind: policy.Wanted})
		}
		f.advance(2 * skip)
		for i := range f.members {
			f.step(i, policy.Event{Kind: policy.Finished})
		}
	}
	if !slices.Contains(f.runs, late) {
		t.Errorf("these have run, and not %d: %v", late, f.runs)
	}
}

// "A home knows, too, who has not answered a holder, and tells the next holder of one of them only, in turn." There may
// be more of them than a Next lists, and than call a holder between two runs.
func TestManyCallersThatHearNothingAreFoundOutOnce(t *testing.T) {
	f := withToken(t, 60)
	deaf := f.callersThatHearNothing(40)
	f.advance(400 * skip)
	for i := range f.members {
		if slices.Contains(deaf, i) {
			continue
		}
		f.runs = nil
		f.step(i, policy.Event{Kind: policy.Wanted})
		for from := f.now; !slices.Contains(f.runs, i); f.advance(skip) {
			if f.now > from.Add(50*skip) {
				t.Fatalf("member %d has waited for 50 s: %v", i, f.members[i])
			}
		}
		f.step(i, policy.Event{Kind: policy.Finished})
	}
}

// A home that hears the heartbeat of a member knows that it answers again: it tells of it, and of one of the others.
func TestAMemberThatHasHadTheTokenIsNotTakenForSilent(t *testing.T) {
	f := withToken(t, 24)
	deaf := f.callersThatHearNothing(14)
	f.advance(100 * skip)
	again, others := deaf[0], deaf[1:]
	f.lost = func(m *wire.Message) bool { return slices.Contains(others, int(m.To[0])-1) }
	run := func(i int) {
		f.runs = nil
		f.step(i, policy.Event{Kind: policy.Wanted})
		for until := f.now.Add(300 * skip); !slices.Contains(f.runs, i) && f.now < until; {
			f.advance(skip)
		}
		f.step(i, policy.Event{Kind: policy.Finished})
	}
	run(again)
	run(2)
	f.sent = nil
	f.step(again, policy.Event{Kind: policy.Wanted})
	f.advance(skip / 2)
	if !slices.ContainsFunc(f.sent, func(m wire.Message) bool {
		return m.Kind == call.KindNext && m.Nonce == 0 && len(call.Waits(&m)) > 1
	}) {
		t.Errorf("no home tells the holder of it and of one of the others: %v", f.sent)
	}
}
