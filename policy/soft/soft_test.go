package soft_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

const noon int64 = 1_750_000_000_000_000_000

func at(d time.Duration) policy.Time { return policy.Time(d) }

// always is a gate without windows.
var always = new(window.Set)

func hook() soft.Terms {
	return soft.Terms{Skip: time.Second, MinInterval: time.Minute, Windows: always}
}

func onDemand() soft.Terms { return soft.Terms{OnDemand: true, Skip: time.Second, Windows: always} }

// ran lets the operation of a schedule run once.
func ran(s *soft.Schedule, cfg soft.Terms, now policy.Time) {
	s.Grant(cfg, now)
	s.Begin(now, wire.TokenID{Birth: 1, Generator: wire.MemberID{1}, Random: 1}, 3)
	s.End(false)
}

func TestAnOperationIsDueWhenItsIntervalIsOver(t *testing.T) {
	var s soft.Schedule
	cfg, now := hook(), at(time.Hour)
	if due := s.Due(cfg, now, now); due != now {
		t.Errorf("the first run is due at %v", due)
	}
	ran(&s, cfg, now)
	if due := s.Due(cfg, now, now); due != now.Add(time.Minute) {
		t.Errorf("the next run is due at %v", due)
	}
}

func TestOnDemandOnlyACallerMakesAMemberDue(t *testing.T) {
	var s soft.Schedule
	cfg, now := onDemand(), at(time.Hour)
	if due := s.Due(cfg, now, now); due != policy.Never {
		t.Errorf("nobody waits, and it is due at %v", due)
	}
	s.Want(cfg, false)
	if due := s.Due(cfg, now, now); due != now {
		t.Errorf("somebody waits, and it is due at %v", due)
	}
	ran(&s, cfg, now)
	if due := s.Due(cfg, now, now); due != policy.Never {
		t.Errorf("each demand has one run, and it is due again at %v", due)
	}
}

// A caller need not wait for min_interval, and its run does not count for it.
func TestACallersRunIsNotOneOfTheOperation(t *testing.T) {
	var s soft.Schedule
	cfg, now := hook(), at(time.Hour)
	ran(&s, cfg, now)
	s.Want(cfg, false)
	later := now.Add(10 * time.Second)
	if due := s.Due(cfg, later, later); due != later {
		t.Errorf("a caller's run is due at %v", due)
	}
	ran(&s, cfg, later)
	if !s.IsCallers() {
		t.Error("the run counts as one of the operation")
	}
	if due := s.Due(cfg, later, later); due != now.Add(time.Minute) {
		t.Errorf("the operation is due at %v", due)
	}
}

func TestAPausedGateHasNothingToRun(t *testing.T) {
	var s soft.Schedule
	cfg := hook()
	s.Want(cfg, false)
	s.Pause(true)
	if due := s.Due(cfg, 0, 0); due != policy.Never {
		t.Errorf("it is due at %v", due)
	}
	if s.Pause(false); s.Due(cfg, 0, 0) == policy.Never {
		t.Error("after the pause nothing is due")
	}
}

func TestAHostThatIsNotReadyRunsForCallersOnly(t *testing.T) {
	var s soft.Schedule
	cfg := hook()
	s.SetReady(false, true)
	if due := s.Due(cfg, 0, 0); due != policy.Never {
		t.Errorf("it is due at %v", due)
	}
	if next := s.Next(cfg, 0, 0); next != 0 {
		t.Errorf("if it were ready it would be due at %v", next)
	}
	if s.Want(cfg, false); s.Due(cfg, 0, 0) != 0 {
		t.Error("a caller has to wait for the host")
	}
}

// What runs here for a caller under another token makes the operation no less due.
func TestARunElsewhereLeavesTheOperationDue(t *testing.T) {
	var s soft.Schedule
	cfg := hook()
	s.Know(soft.Elsewhere{Running: true})
	if due := s.IfReady(cfg, 0, 0); due != 0 {
		t.Errorf("it is due at %v", due)
	}
	if due := s.Due(cfg, 0, 0); due != policy.Time(cfg.Skip) {
		t.Errorf("it may run at %v, beside the other run", due)
	}
}

// While no run may start, callers wait, too; afterwards it is the turn of whoever had it.
func TestWhileNoneMayStartTheTurnStays(t *testing.T) {
	var s soft.Schedule
	cfg := hook()
	s.Want(cfg, true) // while the operation runs, so the next grant is the caller's
	s.SetReady(false, false)
	if due := s.Due(cfg, 0, 0); due != policy.Never {
		t.Errorf("it is due at %v", due)
	}
	if may, turned := s.SetReady(true, true); !may || !turned {
		t.Errorf("it may run: %v, from now on: %v", may, turned)
	}
	if s.Grant(cfg, 0); !s.IsCallers() || s.CalledOff() {
		t.Error("the operation runs before the caller whose turn it was")
	}
	if s.SetReady(false, false); !s.CalledOff() {
		t.Error("the run of a caller starts though none may")
	}
	if _, turned := s.SetReady(false, true); !turned {
		t.Error("the caller may run, and that is no news")
	}
	if may, turned := s.SetReady(false, true); !may || turned {
		t.Errorf("it may run: %v, and that is news again: %v", may, turned)
	}
}

// While no run may start, the operation is not due either, whatever the host says of it; afterwards a token that rests
// here is looked at again.
func TestWhileNoneMayStartTheOperationIsNotDue(t *testing.T) {
	var s soft.Schedule
	cfg := hook()
	if may, _ := s.SetReady(true, false); may || s.Due(cfg, 0, 0) != policy.Never {
		t.Errorf("it may run: %v, and is due at %v", may, s.Due(cfg, 0, 0))
	}
	if may, turned := s.SetReady(true, true); !may || !turned {
		t.Errorf("it may run: %v, from now on: %v", may, turned)
	}
}

func TestARunWaitsForItsWindow(t *testing.T) {
	w, err := window.Parse("10:00-11:00 UTC", func(string) (*time.Location, error) { return time.UTC, nil })
	if err != nil {
		t.Fatal(err)
	}
	var s soft.Schedule
	cfg := hook()
	cfg.Windows = &window.Set{w}
	s.SetCalendar(cfg)
	const nine = 9 * int64(time.Hour) // of the first of January 1970
	s.See(policy.Instant{Time: 0, Wall: nine})
	if due := s.Due(cfg, 0, 0); due != at(time.Hour) {
		t.Errorf("at nine it is due in %v", time.Duration(due))
	}
	s.See(policy.Instant{Time: at(90 * time.Minute), Wall: nine + int64(90*time.Minute)})
	if due := s.Due(cfg, at(90*time.Minute), at(90*time.Minute)); due != at(90*time.Minute) {
		t.Errorf("at half past ten it is due at %v", time.Duration(due))
	}
}

func TestADeniedRunDoesNotCount(t *testing.T) {
	var s soft.Schedule
	cfg, now := hook(), at(time.Hour)
	s.Grant(cfg, now)
	s.Begin(now, wire.TokenID{}, 1)
	s.End(true)
	if due := s.Due(cfg, now, now); due != now {
		t.Errorf("it is due at %v", due)
	}
}

func TestAFailedRunIsRepeated(t *testing.T) {
	var s soft.Schedule
	cfg, now := hook(), at(time.Hour)
	cfg.RetryAfter = 10 * time.Second
	ran(&s, cfg, now)
	ended := now.Add(time.Second)
	if _, changed := s.Conclude(cfg, ended, policy.Failed); !changed {
		t.Error("the outcome need not be saved")
	}
	if due := s.Due(cfg, ended, ended); due < ended.Add(10*time.Second) || due >= now.Add(time.Minute) {
		t.Errorf("it is repeated at %v", due)
	}
}

// A clock was or is wrong if the last run is in the future: otherwise this member might not run for years.
func TestASavedRunInTheFutureCountsAsOneNow(t *testing.T) {
	var s soft.Schedule
	cfg, now := hook(), at(time.Hour)
	s.Restore(cfg, now, &policy.State{HasRun: true, LastRun: at(1000 * time.Hour)}, &soft.Memo{})
	if due := s.Due(cfg, now, now); due != now.Add(time.Minute) {
		t.Errorf("it is due at %v", due)
	}
}

func TestAMemoIsReadAsItWasWritten(t *testing.T) {
	k := soft.Memo{
		Token: wire.TokenID{Birth: 5, Generator: wire.MemberID{6}, Random: 7}, Slot: 3, Wait: time.Minute, Failures: 2,
		Members: 9,
	}
	b := k.Bytes()
	if got := soft.MemoOf(&b); got != k {
		t.Errorf("written %+v, read %+v", k, got)
	}
}

func TestATokenFromTheFutureIsForgotten(t *testing.T) {
	k := soft.Memo{Token: wire.TokenID{Birth: wire.LatestBirth(noon) + 1, Generator: wire.MemberID{6}}, Slot: 3}
	s := policy.State{Memo: k.Bytes()}
	if why := soft.Doubt(noon, &s, nil); why == "" || soft.MemoOf(&s.Memo).Token != (wire.TokenID{}) {
		t.Errorf("it keeps %+v: %q", soft.MemoOf(&s.Memo), why)
	}
	if soft.MemoOf(&s.Memo).Slot != 3 {
		t.Error("it forgets the slot, too")
	}
}

func TestANumberOnlyRises(t *testing.T) {
	var n soft.Numbers
	now := policy.Instant{Wall: noon}
	n.Restore(100, 5)
	birth, seq := n.Create(now)
	if seq <= 100 || birth != noon || !n.MustSave(seq) {
		t.Errorf("a new token has %d, %d", birth, seq)
	}
	if n.Saved(); n.MustSave(seq) {
		t.Error("what is saved must be saved again")
	}
	if got := n.Arrived(7); got <= seq {
		t.Errorf("a token that arrives with a low number has %d", got)
	}
	first := n.Grant(n.Highest())
	if second := n.Grant(first); second <= first {
		t.Errorf("two runs have %d and %d", first, second)
	}
	if got := n.Revived(first, rand.NewPCG(1, 1)); got <= first {
		t.Errorf("a revived token has %d", got)
	}
}

func TestAnImpossibleNumberIsNotBelieved(t *testing.T) {
	var n soft.Numbers
	now := policy.Instant{Wall: noon}
	if n.Believes(now, &wire.Ref{Seq: wire.MaxSeq}) {
		t.Error("it is")
	}
	if n.Restore(wire.MaxSeq, 0); !n.Believes(now, &wire.Ref{Seq: wire.MaxSeq}) {
		t.Error("one that this member has seen is not")
	}
}

func TestAStampFromTheFutureDoesNotMakeLaterTokensYoung(t *testing.T) {
	var n soft.Numbers
	now := policy.Instant{Wall: noon}
	msg := wire.Message{Token: wire.Ref{ID: wire.TokenID{Birth: wire.LatestBirth(noon) + 1}, Seq: 1}}
	if out := n.Witness(now, &msg, nil); len(out) != 1 || out[0].Note != soft.NoteBirthRefused {
		t.Errorf("it tells %v", out)
	}
	if birth, _ := n.Create(now); birth != noon {
		t.Errorf("the next token is of %d", birth)
	}
}

func TestFourMembersAreAvoidedAndAnAnswerIsForgiven(t *testing.T) {
	var a soft.Avoided
	for i := range 5 {
		a.Add(wire.MemberID{byte(i + 1)}, at(time.Duration(10+i)*time.Second))
	}
	if a.Has(wire.MemberID{1}, 0) || !a.Has(wire.MemberID{5}, 0) || !a.Has(wire.MemberID{2}, 0) {
		t.Error("the one that would be forgotten first is not replaced")
	}
	if a.Has(wire.MemberID{5}, at(14*time.Second)) {
		t.Error("one is avoided for longer than said")
	}
	if a.Forgive(wire.MemberID{3}); a.Has(wire.MemberID{3}, 0) {
		t.Error("one that has answered is avoided")
	}
}

func TestPeersAreFoundByTheBeginningOfTheirIdentity(t *testing.T) {
	ids := []wire.MemberID{{1, 1}, {2, 2}, {3, 3}}
	p := soft.NewPeers(ids, ids[1])
	if id, ok := p.ByHint(ids[2].Hint()); !ok || id != ids[2] || p.Rank != 1 || p.Alone() || p.Count() != 3 {
		t.Errorf("found %v, %v in %+v", id, ok, p)
	}
	if p.HasHint(77) || p.Has(wire.MemberID{9}) {
		t.Error("it knows a member that is not there")
	}
}
