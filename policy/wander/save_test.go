package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// slowly brings a member to wait for its disk with a run that is granted under token. The token has two guardians.
func slowly(t *testing.T, token guardian.Token) *scenario {
	t.Helper()
	cfg := config()
	cfg.Backups = 2
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.disk = slowDisk
	s.arrive(token, 1)
	s.wantState("saving")
	s.wantRuns(0)
	s.notes = nil
	return s
}

// wantNoRunSaved wants that the member has never run, and that the last saved state has no run.
func (s *scenario) wantNoRunSaved() {
	s.t.Helper()
	if s.saved.HasRun {
		s.t.Fatalf("it saves %+v", s.saved)
	}
	if st := s.m.Detail(s.now.Time); st.HasRun {
		s.t.Fatalf("its last run is %v", st.LastRun)
	}
}

func TestARunWaitsForItsSaveAndTheHolderSendsHeartbeats(t *testing.T) {
	s := slowly(t, born(1, 10))
	heartbeats := len(s.sent)
	s.advance(skip/2 - time.Millisecond)
	if n := len(s.sent) - heartbeats; n != 2 {
		t.Errorf("%d heartbeats in half a skip to two guardians", n)
	}
	if why := s.m.Detail(s.now.Time).Why; why != wander.WhySaving {
		t.Errorf("it does not run because it is %q", why)
	}
	s.saves(false)
	s.wantNotes(wander.NoteRan)
	s.wantRuns(1)
	// The operation has begun now, not when it was granted.
	if st := s.m.Detail(s.now.Time); st.LastRun != s.now.Time {
		t.Errorf("its last run was %v ago", s.now.Time.Sub(st.LastRun))
	}
}

func TestARunThatIsSavedTooLateIsDeniedAndCountsAsNone(t *testing.T) {
	s := slowly(t, born(1, 10))
	s.advance(skip / 2)
	s.wantNotes(wander.NoteDenied, wander.NoteResting)
	s.wantNoRunSaved()
	s.saves(false)
	s.advance(skip)
	s.wantNotes(handoff.NoteOffered)
	s.wantRuns(0)
	s.ack()
	// The member is still due.
	s.disk = goodDisk
	s.arrive(born(1, 11), 1)
	s.wantRuns(1)
}

// A process that was stopped finds the end of its save before it is woken.
func TestARunIsDeniedThoughItsSaveIsFoundFirst(t *testing.T) {
	s := slowly(t, born(1, 10))
	s.pass(skip / 2)
	s.saves(false)
	s.wantNotes(wander.NoteDenied, wander.NoteResting)
	s.wantRuns(0)
}

func TestARunThatCannotBeSavedIsDeniedAndTheTokenRests(t *testing.T) {
	s := slowly(t, born(1, 10))
	s.saves(true)
	s.wantNotes(wander.NoteDenied, wander.NoteResting)
	s.wantNoRunSaved()
	s.advance(skip)
	s.wantNotes(handoff.NoteOffered)
}

// No other member is there, and the disk is full: it tries again once in a skip, not for ever at one moment.
func TestAMemberAloneWithABrokenDiskTriesAgainAfterASkip(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.disk = brokenDisk
	s.view(3)
	denied := func() (n int) {
		for _, note := range s.notes {
			if note == wander.NoteDenied {
				n++
			}
		}
		return n
	}
	s.advance(10 * skip)
	if n := denied(); n < 9 || n > 11 {
		t.Errorf("%d times in ten skips", n)
	}
	s.wantRuns(0)
	s.disk = goodDisk
	s.advance(skip)
	s.wantRuns(1)
}

func TestATokenWithANewNumberIsNotOfferedBeforeThatIsSaved(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		s := inFleet(t)
		s.arrive(born(1, 10), 1)
		s.advance(op)
		s.finish()
		s.ack()
		s.disk = slowDisk
		s.advance(maxInterval)
		s.wantState("saving")
		s.notes = nil
		s.advance(skip/2 - time.Millisecond)
		s.wantNotes()
		if hangs {
			s.advance(time.Millisecond)
		} else {
			s.saves(false)
		}
		s.wantNotes(handoff.NoteOffered)
	}
}

// A grant that waits for the disk is forgotten if the token does not stay the same, and the record shows that.
func TestAGrantIsWithdrawnWithItsToken(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*scenario)
		state   string
	}{
		"overtaken": {func(s *scenario) {
			heartbeat := wire.Message{
				Gate: 7, Kind: guardian.KindHeartbeat, From: id(4), To: self, Nonce: 1, Token: born(2, 99).Ref,
			}
			s.receive(heartbeat)
		}, "absent"},
		"the host slept": {func(s *scenario) { s.sleep(time.Minute) }, "absent"},
		"leaving":        {func(s *scenario) { s.leave() }, "offering"},
		"was away": {func(s *scenario) {
			s.pass(2 * skip)
			s.step(policy.Event{Kind: policy.Woke})
		}, "doubting"},
	} {
		t.Run(name, func(t *testing.T) {
			s := slowly(t, born(2, 10))
			tc.happens(s)
			s.wantState(tc.state)
			s.wantNoRunSaved()
			s.saves(false)
			s.wantRuns(0)
		})
	}
}

// The older token replaces the one under which the run was granted: the run is granted again.
func TestAnOlderTokenThatArrivesMeanwhileIsTheOneThatIsRunUnder(t *testing.T) {
	s := slowly(t, born(2, 10))
	s.advance(skip / 4)
	s.arrive(born(1, 50), 2)
	s.wantState("saving")
	if soft.MemoOf(&s.saved.Memo).Token != born(1, 0).ID || s.saved.LastRun != s.now.Time {
		t.Fatalf("it saves %+v", s.saved)
	}
	s.saves(false)
	s.wantRuns(1)
	if s.runs[0].ID != born(1, 0).ID {
		t.Errorf("it runs under %v", s.runs[0].ID)
	}
}

// The shell has found that it is too late to start the process.
func TestARunThatWasNotStartedCountsAsNone(t *testing.T) {
	last := policy.State{
		HasRun: true, LastRun: policy.Time(time.Hour).Add(-2 * minInterval),
		Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 5,
	}
	s := begin(t, config(), last)
	s.fleet(1, 2, 3, 4, 5)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
	s.notes = nil
	s.step(policy.Event{Kind: policy.Finished, Denied: true})
	s.wantNotes(wander.NoteDenied, wander.NoteResting)
	if st := s.m.Detail(s.now.Time); st.LastRun != last.LastRun || s.saved.LastRun != last.LastRun {
		t.Errorf("its last run is %v, and %v in the record", st.LastRun, s.saved.LastRun)
	}
}

// There is one disk for all tokens: a member that waits for it with one token does not run under another.
func TestNobodyRunsUnderOneTokenWhileARunUnderAnotherIsSaved(t *testing.T) {
	b := boothOf(t, wander.NewGate(config(), 2), policy.State{})
	b.slow = true
	b.arrive(slotted(0, 1, 10))
	wantNote(t, b.arrive(slotted(1, 2, 10)), wander.NoteResting)
	b.step(policy.Event{Kind: policy.Saved})
	wantNote(t, b.notes(), wander.NoteRan)
	runs := 0
	for i := range b.out {
		if b.out[i].Kind == policy.Run {
			runs++
		}
	}
	if runs != 1 {
		t.Errorf("%d runs start", runs)
	}
}
