package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// asks starts a member of a fleet of five that asks before it runs, with a token at which it is due.
func asks(t *testing.T, token guardian.Token) *scenario {
	t.Helper()
	s := idleAsker(t)
	s.arrive(token, 1)
	s.wantState("asking")
	return s
}

func idleAsker(t *testing.T) *scenario {
	t.Helper()
	cfg := config()
	cfg.AskBeforeRun = true
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// intents returns the Intents that were sent since the last call.
func (s *scenario) intents() (list []wire.Message) {
	for i := range s.sent {
		if s.sent[i].Kind == wander.KindIntent {
			list = append(list, s.sent[i])
		}
	}
	s.sent = nil
	return list
}

// answer is the answer of the addressee of an Intent.
func answer(intent *wire.Message, kind wire.Kind) wire.Message {
	m := *intent
	m.Kind, m.From, m.To = kind, intent.To, intent.From
	return m
}

// reply answers Intents.
func (s *scenario) reply(kind wire.Kind, intents ...wire.Message) {
	s.t.Helper()
	for i := range intents {
		s.receive(answer(&intents[i], kind))
	}
}

// intentOf is the Intent of another member under a token.
func intentOf(from int, token guardian.Token) wire.Message {
	return wire.Message{
		Gate: 7, Kind: wander.KindIntent, From: id(from), To: self, Exchange: 99, Token: token.Ref, Load: token.Load,
	}
}

func addressees(list []wire.Message) (ids []wire.MemberID) {
	for i := range list {
		ids = append(ids, list[i].To)
	}
	return ids
}

func TestAMemberThatIsDueAsksAllOthersAndRunsWhenAllHaveConsented(t *testing.T) {
	s := asks(t, born(1, 7))
	intents := s.intents()
	if got := addressees(intents); !slices.Equal(got, []wire.MemberID{id(1), id(2), id(4), id(5)}) {
		t.Fatalf("it asks %v", got)
	}
	if why := s.m.Status(s.now.Time).Why; why != wander.WhyAsking {
		t.Errorf("its status says %q", why)
	}
	s.reply(wander.KindConsent, intents[:3]...)
	s.wantState("asking")
	s.wantRuns(0)
	s.reply(wander.KindConsent, intents[3])
	s.wantState("running")
	s.wantRuns(1)
}

func TestOneObjectionIsEnough(t *testing.T) {
	token := born(1, 7)
	s := asks(t, token)
	intents := s.intents()
	s.reply(wander.KindConsent, intents[:2]...)
	s.notes = nil
	s.reply(wander.KindObjection, intents[2])
	s.wantNotes(wander.NoteOpposed, wander.NoteResting)
	s.wantState("resting")
	s.reply(wander.KindConsent, intents[3])
	s.advance(skip - 1)
	s.wantHeld(token.ID)
	s.wantState("resting")
	s.advance(1)
	s.wantState("offering")
	s.wantRuns(0)
}

// A member that cannot be reached has no veto: the question is repeated to those that are silent, and ends after half a
// patience.
func TestNobodyWaitsLongForAnAnswer(t *testing.T) {
	s := asks(t, born(1, 7))
	intents := s.intents()
	s.reply(wander.KindConsent, intents[0], intents[2])
	s.advance(timeout/2 - 1)
	s.wantState("asking")
	want := slices.Repeat([]wire.MemberID{id(2), id(5)}, 4)
	if got := addressees(s.intents()); !slices.Equal(got, want) {
		t.Errorf("it asks %v again, want %v", got, want)
	}
	s.advance(1)
	s.wantState("running")
}

// A member that was away when the answers were due may have missed an objection. If it is late again, it goes on:
// otherwise it would never run on a slow host.
func TestAMemberThatWasAwayAsksOnceMore(t *testing.T) {
	s := asks(t, born(1, 7))
	first := s.intents()
	s.pass(timeout * 3 / 4)
	s.step(policy.Event{Kind: policy.Woke})
	s.wantState("asking")
	second := s.intents()
	if len(second) != 4 || second[0].Exchange == first[0].Exchange {
		t.Fatalf("it asks %v", second)
	}
	s.reply(wander.KindConsent, first...)
	s.wantState("asking")
	s.pass(timeout * 3 / 4)
	s.step(policy.Event{Kind: policy.Woke})
	s.wantRuns(1)
}

func TestAMemberThatRunsOrIsAboutToObjects(t *testing.T) {
	s := idleAsker(t)
	objects := func(want bool, does string) {
		t.Helper()
		s.sent = nil
		intent := intentOf(2, born(0, 50))
		s.receive(intent)
		kind := wander.KindConsent
		if want {
			kind = wander.KindObjection
		}
		if n := len(s.sent); n != 1 || s.sent[0] != answer(&intent, kind) {
			t.Errorf("a member that %s answers %v", does, s.sent)
		}
	}
	objects(false, "has no token")
	s.disk = slowDisk
	s.arrive(born(1, 7), 1)
	s.reply(wander.KindConsent, s.intents()...)
	s.wantState("saving")
	objects(true, "saves its grant")
	s.saves(false)
	s.wantState("running")
	objects(true, "runs")
	s.advance(op)
	s.finish()
	s.wantState("offering")
	objects(false, "has run")
}

// The older token goes first. Of two copies it is the one with the higher number.
func TestOfTwoThatAskOneGivesWay(t *testing.T) {
	for _, c := range []struct {
		other guardian.Token
		gives bool
	}{
		{born(1, 99), true},
		{born(3, 1), false},
		{born(2, 3), false},
		{born(2, 50), true},
	} {
		s := asks(t, born(2, 7))
		s.sent = nil
		intent := intentOf(4, c.other)
		s.receive(intent)
		kind, state := wander.KindObjection, "asking"
		if c.gives {
			kind, state = wander.KindConsent, "resting"
		}
		if len(s.sent) != 1 || s.sent[0] != answer(&intent, kind) {
			t.Errorf("asked about %+v, it answers %v", c.other.Ref, s.sent)
		}
		s.wantState(state)
	}
}

// visitOpposed lets a token come after a time, while one member objects and the others do not, and passes it on. It
// reports whether the member has run.
func (s *scenario) visitOpposed(token guardian.Token, after time.Duration, objector int) (ran bool) {
	s.t.Helper()
	s.advance(after)
	s.notes, s.sent = nil, nil
	s.arrive(token, 1)
	s.wantState("asking")
	for _, intent := range s.intents() {
		kind := wander.KindConsent
		if intent.To == id(objector) {
			kind = wander.KindObjection
		}
		s.reply(kind, intent)
	}
	if ran = s.m.Status(s.now.Time).Phase == "running"; ran {
		s.finish()
	}
	s.advance(skip)
	s.ack()
	return ran
}

// "Such a member costs the fleet at most a lap, once": the objections of one member count for as long as an operation
// lasts, and then not until it may have run again.
func TestAMemberThatAlwaysObjectsIsOverruled(t *testing.T) {
	const lasts, interval = 2 * op, 10 * op
	s := idleAsker(t)
	s.m.Tune(wander.Settings{Skip: skip, Op: op, MinInterval: interval, AskBeforeRun: true})
	token := born(1, 7)
	visit := func(after time.Duration, objector int, want bool) {
		t.Helper()
		if ran := s.visitOpposed(token, after, objector); ran != want {
			t.Errorf("it ran: %v, want %v", ran, want)
		}
		if told := slices.Contains(s.notes, wander.NoteOverruled); told != want {
			t.Errorf("it notes %v", names(s.notes))
		}
	}
	visit(0, 5, false)
	visit(lasts-2*skip, 5, false)
	visit(0, 5, true)
	visit(interval, 5, false) // more than interval - lasts after its first objection
	visit(lasts, 5, true)
	visit(interval, 4, false) // the objection of another member counts
}

// The next objection of a member counts when it may run again, and not as soon as its last one is over.
func TestAnObjectionCountsOnceInAnInterval(t *testing.T) {
	const interval = 20 * op
	for after, overruled := range map[time.Duration]bool{interval / 2: true, interval: false} {
		s := idleAsker(t)
		s.m.Tune(wander.Settings{Skip: skip, Op: op, MinInterval: interval, AskBeforeRun: true})
		if s.visitOpposed(born(1, 7), 0, 5) {
			t.Fatal("the first objection does not count")
		}
		if ran := s.visitOpposed(born(1, 7), after, 5); ran != overruled {
			t.Errorf("%v after the first objection, it ran: %v, want %v", after, ran, overruled)
		}
	}
}

// An operation lasts at least two timeouts, however short it is: its save and its start take time, too.
func TestAnObjectionCountsForTwoTimeoutsAtLeast(t *testing.T) {
	for after, want := range map[time.Duration]bool{2*timeout - time.Second/8: false, 2 * timeout: true} {
		s := idleAsker(t)
		s.m.Tune(wander.Settings{Skip: skip, Op: timeout / 4, MinInterval: minInterval, AskBeforeRun: true})
		if s.visitOpposed(born(1, 7), 0, 5) {
			t.Fatal("an objection does not count at once")
		}
		if ran := s.visitOpposed(born(1, 7), after-skip, 5); ran != want {
			t.Errorf("%v after the first objection, it ran: %v, want %v", after, ran, want)
		}
	}
}

// Byzantine members may take turns. Four are remembered, each with its own time, and a fifth one replaces the first.
func TestMembersThatObjectInTurnsAreOverruled(t *testing.T) {
	four := []int{1, 4, 5, 6}
	for _, c := range []struct {
		before []int
		last   int
		runs   bool
	}{
		{before: four, last: 1, runs: true},
		{before: four, last: 4, runs: true},
		{before: four, last: 6, runs: true},
		{before: four, last: 7},
		{before: append(four, 7), last: 1},
		{before: append(four, 7), last: 4, runs: true},
	} {
		s := idleAsker(t)
		s.m.Tune(wander.Settings{Skip: skip, Op: op, MinInterval: 20 * op, AskBeforeRun: true})
		s.fleet(1, 2, 3, 4, 5, 6, 7)
		for _, objector := range c.before {
			if s.visitOpposed(born(1, 7), 0, objector) {
				t.Errorf("it ran when member %d objected", objector)
			}
		}
		if ran := s.visitOpposed(born(1, 7), 2*op, c.last); ran != c.runs {
			t.Errorf("it ran when %d objected after %v: %v", c.last, c.before, ran)
		}
	}
}

// An Intent of another member under an older token is an objection, too, and after that time it does not count either.
func TestAMemberThatAlwaysGoesFirstIsOverruled(t *testing.T) {
	s := idleAsker(t)
	token, older := born(2, 7), born(1, 1)
	for _, want := range []string{"resting", "asking"} {
		s.arrive(token, 1)
		s.notes = nil
		s.receive(intentOf(5, older))
		s.wantState(want)
		if want == "asking" {
			s.wantNotes(wander.NoteOverruled)
			continue
		}
		s.advance(skip)
		s.ack()
		s.advance(2 * op)
	}
}

// An answer belongs to its question, and comes from a member that is there.
func TestAnAnswerToAnotherQuestionOrTokenDoesNotCount(t *testing.T) {
	s := asks(t, born(1, 7))
	intents := s.intents()
	for _, change := range []func(*wire.Message){
		func(m *wire.Message) { m.Exchange++ },
		func(m *wire.Message) { m.From = id(9) },
		func(m *wire.Message) { m.Token = born(2, 7).Ref },
	} {
		m := answer(&intents[0], wander.KindObjection)
		change(&m)
		if s.m.Expects(&m) {
			t.Errorf("it expects %+v", m)
		}
	}
	s.wantState("asking")
}

// A member with another clock is answered: its question does no harm, whatever the number of its token.
func TestAnIntentIsAnsweredWhateverItsNumber(t *testing.T) {
	s := idleAsker(t)
	intent := intentOf(2, born(1, wire.LatestSeq(s.now.Wall)+1))
	s.receive(intent)
	if len(s.sent) != 1 || s.sent[0] != answer(&intent, wander.KindConsent) {
		t.Errorf("it answers %v", s.sent)
	}
}

func TestAMemberThatLeavesWhileItAsksPassesTheTokenOn(t *testing.T) {
	s := asks(t, born(1, 7))
	s.leave()
	s.wantState("offering")
	s.wantRuns(0)
}

// No member waits for one that has gone; the places of the others in the view change.
func TestTheQuestionGoesOnInAnotherView(t *testing.T) {
	s := asks(t, born(1, 7))
	intents := s.intents()
	s.reply(wander.KindConsent, intents[1]) // of member 2
	s.fleet(1, 3, 4, 6)                     // 2 and 5 are gone, 6 has come
	s.reply(wander.KindConsent, intents[0])
	s.wantState("asking")
	s.reply(wander.KindConsent, intents[2])
	s.wantState("running")
}

func TestTheQuestionEndsIfNobodyIsLeftToAnswer(t *testing.T) {
	s := asks(t, born(1, 7))
	s.reply(wander.KindConsent, s.intents()[0])
	s.fleet(1, 3)
	s.advance(0)
	s.wantState("running")
}

// In the largest fleet in which members ask, one still asks.
func TestAMemberOfAFleetThatIsNotTooLargeAsks(t *testing.T) {
	fleet := make([]int, guardian.MostAsked)
	for i := range fleet {
		fleet[i] = i + 1
	}
	cfg := config()
	cfg.AskBeforeRun = true
	s := begin(t, cfg, policy.State{})
	s.fleet(fleet...)
	s.arrive(born(1, 7), 1)
	s.wantState("asking")
}

// No member asks if that is not configured, if no other member is there, or if the fleet is too large for it.
func TestSomeMembersDoNotAsk(t *testing.T) {
	large := make([]int, guardian.MostAsked+1)
	for i := range large {
		large[i] = i + 1
	}
	for _, c := range []struct {
		asks  bool
		fleet []int
	}{
		{false, []int{1, 2, 3}},
		{true, []int{3}},
		{true, large},
	} {
		cfg := config()
		cfg.AskBeforeRun = c.asks
		s := begin(t, cfg, policy.State{})
		s.fleet(c.fleet...)
		s.arrive(born(1, 7), 1)
		s.wantState("running")
		if n := len(s.intents()); n > 0 {
			t.Errorf("among %d, %d are asked", len(c.fleet), n)
		}
	}
}
