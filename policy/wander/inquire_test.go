package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// guarded starts a member of a fleet of seven whose tokens have guardians. It has run, and is no longer a guardian.
func guarded(t *testing.T) *scenario { t.Helper(); return guardedFar(t, 0) }

// guardedFar is guarded in a network with the given round trip.
func guardedFar(t *testing.T, roundTrip time.Duration) *scenario {
	t.Helper()
	cfg := config()
	cfg.Backups = 2
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	s.arrive(born(1, 10), 1)
	s.advance(op)
	s.finish()
	s.advance(roundTrip)
	s.sent = slices.DeleteFunc(s.sent, func(m wire.Message) bool { return m.Kind != handoff.KindToken })
	token, to := s.ack()
	token.Seq += 5
	token.SetTrail(&guardian.Trail{})
	s.receive(wire.Message{Gate: 7, Kind: guardian.KindKnown, From: to, To: self, Token: token.Ref, Load: token.Load})
	s.notes, s.sent = nil, nil
	return s
}

// silent is how long an unanswered question lasts in a fleet of one batch: one member is asked, then four, and then six
// times all.
const silent = 7*(timeout/2/3) + timeout/2

// unseen answers the open question for a member that has met no token, and knows that the members asks ask.
func (s *scenario) unseen(from int, asks ...int) {
	s.t.Helper()
	s.unseenFrom(id(from), asks...)
}

func (s *scenario) unseenFrom(from wire.MemberID, asks ...int) {
	s.t.Helper()
	asked := s.lastSent(wander.KindInquiry)
	m := wire.Message{Gate: 7, Kind: wander.KindUnseen, From: from, To: self, Exchange: asked.Exchange}
	for _, other := range asks {
		guardian.SetTrail(&m.Load, &guardian.Trail{id(other)})
		m.Nonce = 1
	}
	s.receive(m)
}

// seen answers the last question: the token was there some time ago.
func (s *scenario) seen(token guardian.Token, ago time.Duration) {
	s.t.Helper()
	asked := s.lastSent(wander.KindInquiry)
	s.receive(wire.Message{
		Gate: 7, Kind: wander.KindSeen, From: asked.To, To: self, Exchange: asked.Exchange, Nonce: wire.Nonce(ago),
		Token: token.Ref, Load: token.Load,
	})
}

func TestAfterALongSilenceAMemberAsksOneThenFourThenAll(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.wantNotes(wander.NoteInquired)
	asked := map[wire.MemberID]int{}
	s.advance(timeout/6 - 1)
	if len(s.sent) != 1 {
		t.Errorf("%d are asked at first", len(s.sent))
	}
	s.advance(silent - timeout/6)
	for _, m := range s.sent {
		if m.Kind != wander.KindInquiry || m.Exchange != s.sent[0].Exchange || m.To == self {
			t.Fatalf("it sends %+v", m)
		}
		asked[m.To]++
	}
	if len(asked) != 6 || len(s.sent) != 1+4+6*6 {
		t.Errorf("%d messages to %v", len(s.sent), asked)
	}
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// Members that have heard of no token for equally long would all make one: those of higher identity wait for the one of
// the lowest.
func TestAnAskerGivesWayToOneOfLowerIdentity(t *testing.T) {
	for from, then := range map[int][]policy.Note{2: nil, 4: {wander.NoteRegenerated, handoff.NoteOffered}} {
		s := guarded(t)
		s.advance(maxInterval)
		s.notes = nil
		s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(from), To: self, Exchange: 5})
		if then == nil {
			s.advance(timeout - 1)
			s.wantNotes()
			s.sent = nil
			s.advance(1)
			s.wantNotes(wander.NoteInquired) // It asks again: has that one made a token?
			if asked := s.asked(); len(s.sent) != 1 || asked[id(from)] != 1 {
				t.Errorf("it asks %v first", asked)
			}
			continue
		}
		s.advance(silent)
		s.wantNotes(then...)
	}
}

// A question that was asked before this member was away cannot have been answered meanwhile.
func TestAMemberThatWasAwayWhileItAskedAsksAgain(t *testing.T) {
	for _, tc := range []struct {
		away time.Duration
		then []policy.Note
	}{
		{timeout/6 + timeout/2 - 1, nil},
		{timeout/6 + timeout/2, []policy.Note{wander.NoteInquired}},
	} {
		s := guarded(t)
		s.advance(maxInterval)
		s.wantNotes(wander.NoteInquired)
		s.pass(tc.away)
		s.step(policy.Event{Kind: policy.Woke})
		s.wantNotes(tc.then...)
	}
}

// This also holds where it would not have to ask any more: a wake-up before its time does nothing.
func TestAQuestionThatIsOutIsWaitedFor(t *testing.T) {
	for name, scenario := range map[string]func(t *testing.T) *scenario{
		"the others are gone": func(t *testing.T) *scenario {
			s := guarded(t)
			s.advance(maxInterval)
			s.fleet(3)
			return s
		},
		"it is its turn to make the first token": func(t *testing.T) *scenario {
			cfg := withBackups(2)
			cfg.MaxInterval = 3*timeout - 1
			s := begin(t, cfg, policy.State{})
			s.view(3, 4)
			s.advance(3*timeout - 1)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario(t)
			s.wantNotes(wander.NoteInquired)
			s.pass(1)
			s.step(policy.Event{Kind: policy.Woke})
			s.wantNotes()
			s.advance(timeout / 2)
			if st := s.m.Detail(s.now.Time); !st.Holding {
				t.Error("it makes no token")
			}
		})
	}
}

func TestASightingEndsASilence(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.notes = nil
	s.seen(born(1, 50), 10*time.Second)
	s.wantNotes(wander.NoteSeen)
	s.advance(maxInterval - 10*time.Second - 1)
	s.wantNotes()
}

// The member that saw a token last makes the new one: a member that was told of it waits for one or two laps longer.
func TestAMemberThatIsToldOfATokenWaitsALapLonger(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.seen(born(1, 50), 10*time.Second)
	const lap = maxInterval / 3
	longer := s.regenerateIn() - (maxInterval - 10*time.Second)
	if longer < lap || longer >= 2*lap {
		t.Errorf("it waits for %v longer than regenerate-after", longer)
	}
	s.ran(born(1, 60))
	if in := s.regenerateIn(); in != maxInterval {
		t.Errorf("after a token has been here it waits for %v", in)
	}
}

func (s *scenario) regenerateIn() time.Duration {
	return s.m.Detail(s.now.Time).RegenerateAt.Sub(s.now.Time)
}

// The time counts from the question: a sighting that is passed on becomes older rather than younger.
func TestASightingIsNoLaterThanTheAnswerSays(t *testing.T) {
	s := guarded(t)
	since := s.now.Time
	s.advance(maxInterval)
	s.advance(timeout / 4)
	s.notes = nil
	// It was there a moment after this member passed it on, if counted from the answer; before that, if counted from
	// the question.
	s.seen(born(1, 50), s.now.Time.Sub(since)-time.Millisecond)
	s.advance(silent - timeout/4)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// All are told of the same sighting, and must not all make a token when it is too long ago.
func TestAFleetThatHasLostItsTokenMakesAFew(t *testing.T) {
	const n = 40
	for _, walk := range wander.Walks() {
		cfg := config()
		cfg.Walk, cfg.Backups = walk, 2
		f := newFleet(t, n, cfg)
		for i := range n {
			f.seesAll(0, i)
		}
		f.advance(maxInterval)
		f.wantOneToken()
		for _, m := range f.members {
			st := m.m.Detail(f.now)
			m.crashed = st.Holding || st.Keeps
		}
		f.advance(2 * maxInterval)
		if f.regenerated < 1 || f.regenerated > 4 {
			t.Errorf("%v: %d of %d make a token", walk, f.regenerated, n)
		}
	}
}

func TestATooOldSightingDoesNotDelayRegeneration(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.notes = nil
	s.seen(born(1, 50), maxInterval)
	s.wantNotes()
	s.advance(silent)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// The token that is made then is later than all that were seen.
func TestARegeneratedTokenIsYoungerThanAnySeen(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	older := born(10_000, 1<<40)
	s.seen(older, maxInterval)
	s.advance(silent)
	made := s.lastSent(handoff.KindToken).Token
	if made.Seq <= older.Seq || !older.ID.Precedes(made.ID) {
		t.Errorf("it makes %+v after %+v", made, older)
	}
}

func TestAnAnswerToAnotherQuestionIsNotExpected(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	m := *s.lastSent(wander.KindInquiry)
	m.Kind, m.From, m.To, m.Nonce, m.Token = wander.KindSeen, m.To, self, 1, born(1, 50).Ref
	m.Exchange++
	if s.m.Expects(&m) {
		t.Error("it is expected")
	}
}

func TestAnAnswerSaysHowLongAgoATokenWasSeen(t *testing.T) {
	question := wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 9}
	s := guarded(t)
	s.advance(40 * time.Second)
	s.receive(question)
	if m := s.lastSent(wander.KindSeen); m.To != id(2) || m.Exchange != 9 || m.Nonce != wire.Nonce(40*time.Second) ||
		m.Token.ID != born(1, 0).ID {
		t.Errorf("it answers %+v", m)
	}
	s.arrive(born(1, 90), 1)
	s.receive(question)
	if m := s.lastSent(wander.KindSeen); m.Nonce != 1 {
		t.Errorf("who holds it answers %v", time.Duration(m.Nonce))
	}
}

func TestAMemberThatHasSeenNoTokenAnswersUnseen(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.fleet(1, 2, 3)
	s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 9})
	if m := s.lastSent(wander.KindUnseen); m.To != id(2) || m.Exchange != 9 || m.Nonce != 0 ||
		guardian.TrailOf(&m.Load) != (guardian.Trail{}) {
		t.Errorf("it answers %+v", m)
	}
}

// Of all members that miss a token, the one of the lowest identity asks on behalf of the others.
func TestAnAnswerNamesTheMemberOfLowestIdentityThatAsks(t *testing.T) {
	for _, met := range []bool{false, true} {
		s := guarded(t)
		if !met {
			s = begin(t, withBackups(2), policy.State{})
			s.fleet(1, 2, 3, 4, 5)
		}
		s.advance(maxInterval - 20*time.Millisecond)
		question := wire.Message{Gate: 7, Kind: wander.KindInquiry, To: self, Exchange: 9}
		for _, tc := range []struct{ from, names int }{{5, 0}, {2, 0}, {4, 2}, {1, 0}, {4, 1}, {1, 0}} {
			s.advance(time.Millisecond)
			s.sent = nil
			question.From = id(tc.from)
			s.receive(question)
			m := s.lastSent(map[bool]wire.Kind{false: wander.KindUnseen, true: wander.KindSeen}[met])
			named := guardian.TrailOf(&m.Load)
			if !met && (named[0].IsZero() != (tc.names == 0) || tc.names != 0 && named[0] != id(tc.names) ||
				(m.Nonce == 0) != (tc.names == 0)) {
				t.Errorf("%d is told %v", tc.from, named)
			}
		}
		s.advance(14 * time.Millisecond) // by now its own sighting was long ago as well
		s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, To: self, From: id(4), Exchange: 9})
		if m := s.lastSent(wander.KindUnseen); guardian.TrailOf(&m.Load)[0] != id(1) ||
			m.Nonce != wire.Nonce(14*time.Millisecond) {
			t.Errorf("it answers %+v", m)
		}
	}
}

func TestAnAskerGivesWayToANamedOneOfLowerIdentity(t *testing.T) {
	for other, asks := range map[int]bool{2: false, 4: true, 99: true} {
		s := guarded(t)
		s.advance(maxInterval)
		s.unseen(5, other)
		s.sent = nil
		s.advance(timeout / 2)
		if len(s.sent) > 0 != asks {
			t.Errorf("it is told that %d asks, and asks %d more", other, len(s.sent))
		}
	}
}

// The member to which it gives way may hear no other.
func TestAMemberGivesWayAFewTimesOnly(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	for range 24 {
		s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 5})
		s.advance(timeout)
	}
	if asked := names(s.notes); len(asked) < 20 {
		t.Errorf("it gives way at once: %v", asked)
	}
	if st := s.m.Detail(s.now.Time); !st.Holding {
		t.Errorf("it is %s", st.Phase)
	}
}

// When all have answered, only the least time for answers is waited for.
func TestAMemberRegeneratesWhenAllHaveAnsweredUnseen(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.advance(timeout * 2 / 5)
	s.notes = nil
	for _, other := range []int{1, 2, 4, 5, 6, 7} {
		s.wantNotes()
		s.unseen(other)
	}
	s.advance(timeout/10 - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// In a large fleet all are asked, too, in batches: the next when all of one have answered, or have been asked often.
func TestALargeFleetIsAskedInBatches(t *testing.T) {
	const members = 200
	s := guarded(t)
	all := make([]int, members)
	for i := range all {
		all[i] = 1 + i
	}
	s.fleet(all...)
	s.advance(s.regenerateIn())
	s.advance(timeout / 3)
	answered := map[wire.MemberID]bool{}
	for batch := 0; len(answered) < members-1; batch++ {
		asked := s.asked()
		if batch > 0 && len(asked) > 64 || batch > 4 {
			t.Fatalf("of batch %d, it asks %d at once", batch, len(asked))
		}
		for id := range asked {
			s.unseenFrom(id)
			answered[id] = true
		}
		s.sent, s.notes = nil, nil
		s.advance(timeout / 6 / 8)
	}
	s.advance(timeout / 6)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

func TestATokenThatArrivesAnswersTheQuestion(t *testing.T) {
	s := guarded(t)
	s.advance(maxInterval)
	s.arrive(born(1, 50), 2)
	s.advance(timeout)
	if st := s.m.Detail(s.now.Time); !st.Holding || st.Token.ID != born(1, 0).ID {
		t.Errorf("it holds %+v", st.Token)
	}
}

func TestAGuardianThatIsAskedSaysWhenItHeardTheHolder(t *testing.T) {
	s := guarded(t)
	s.advance(40 * time.Second)
	held := born(2, 90)
	held.SetTrail(&guardian.Trail{id(5), self})
	s.receive(word(guardian.KindHeartbeat, 6, held))
	s.advance(skip / 2)
	s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 9})
	m := s.lastSent(wander.KindSeen)
	if m.Nonce != wire.Nonce(skip/2) || m.Token.ID != held.ID || m.Token.Seq != held.Seq {
		t.Errorf("it answers %+v", m)
	}
	if named := guardian.TrailOf(&m.Load); named != (guardian.Trail{self, id(6), id(5)}) {
		t.Errorf("it names %v", named)
	}
}

// A replayed earlier heartbeat does not count as heard.
func TestAGuardiansSilenceBeginsWithTheLastHeartbeat(t *testing.T) {
	s := guarded(t)
	held := born(2, 90)
	held.SetTrail(&guardian.Trail{id(5), self})
	heartbeat := word(guardian.KindHeartbeat, 6, held)
	s.receive(heartbeat)
	heard := s.now.Time
	s.advance(time.Second / 2)
	s.receive(heartbeat)
	if at := s.m.Detail(s.now.Time).RegenerateAt; at != heard.Add(maxInterval) {
		t.Errorf("its silence is over %v after the heartbeat", at.Sub(heard))
	}
}

// crowd starts a member that has had a token, and keeps no copy, in a fleet of forty.
func crowd(t *testing.T) *scenario { t.Helper(); return crowdFar(t, 0) }

func crowdFar(t *testing.T, roundTrip time.Duration) *scenario {
	t.Helper()
	s := guardedFar(t, roundTrip)
	var all []int
	for i := range 40 {
		all = append(all, 1+i)
	}
	s.fleet(all...)
	return s
}

// asked returns the members to which the questions since then have gone.
func (s *scenario) asked() map[wire.MemberID]int {
	asked := map[wire.MemberID]int{}
	for _, m := range s.sent {
		if m.Kind == wander.KindInquiry {
			asked[m.To]++
		}
	}
	return asked
}

func TestMembersNamedInAnAnswerAreAskedNextTime(t *testing.T) {
	s := crowd(t)
	s.advance(maxInterval)
	token := born(1, 50)
	token.SetTrail(&guardian.Trail{self, id(39), id(41), id(38)}) // member 41 is not there any more
	s.seen(token, maxInterval-time.Second)
	s.sent = nil
	s.advance(1202 * time.Second)
	asked := s.asked()
	if asked[self] > 0 || asked[id(39)] == 0 || asked[id(41)] > 0 || asked[id(38)] == 0 || len(asked) < 5 {
		t.Errorf("it asks %v", asked)
	}
}

// It was seen later than this member knew, but too long ago to wait for it: each member that is named is asked at once,
// and the others are asked before it makes a token. The answers take as long as any.
func TestAnAnswerThatIsTooOldIsPursued(t *testing.T) {
	pursues(t, crowd(t), timeout/2)
	pursues(t, crowdFar(t, timeout*9/10), timeout*9/10*3/2)
}

// pursues lets a member of a crowd be told of a sighting. It wants that all are asked before the member makes a token,
// and that it waits that long for an answer.
func pursues(t *testing.T, s *scenario, waits time.Duration) {
	t.Helper()
	token := born(1, 50)
	token.SetTrail(&guardian.Trail{id(39), id(38)})
	since := s.now.Time
	s.advance(maxInterval)
	for {
		since = since.Add(time.Second / 5)
		s.sent, s.notes = s.sent[len(s.sent)-1:], nil
		s.seen(token, s.now.Time.Sub(since))
		if slices.Contains(s.notes, wander.NoteInquired) {
			break
		}
		// It waits for a lap or two, by chance.
		for s.wantNotes(wander.NoteSeen); !slices.Contains(s.notes, wander.NoteInquired); {
			s.advance(time.Second / 10)
		}
	}
	s.sent = s.sent[1:]
	s.advance(waits + 6*(waits/3) - 1)
	if asked := s.asked(); len(asked) != 39 || asked[id(39)] != 1+6 || asked[id(38)] != 1+6 || asked[id(1)] != 6 {
		t.Errorf("it asks %v", asked)
	}
	s.wantNotes(wander.NoteInquired)
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

// A guardian hears a heartbeat with another number: a higher one is from the present token, and counts like it. A lower
// one is from a copy that is no more.
func TestAGuardianHearsAHeartbeatOfAnotherNumber(t *testing.T) {
	for name, tc := range map[string]struct {
		seq    wire.Seq
		begins bool
	}{"a higher one": {95, true}, "a lower one": {85, false}} {
		t.Run(name, func(t *testing.T) {
			s := guarded(t)
			s.receive(word(guardian.KindHeartbeat, 6, guardedBy(born(2, 90), 5, 3)))
			s.advance(patience / 2)
			heartbeat := word(guardian.KindHeartbeat, 6, guardedBy(born(2, tc.seq), 5, 3))
			heartbeat.Nonce = 99
			before := s.m.Detail(s.now.Time).RegenerateAt
			s.receive(heartbeat)
			if at := s.m.Detail(s.now.Time).RegenerateAt; (at == s.now.Time.Add(maxInterval)) != tc.begins ||
				(at == before) == tc.begins {
				t.Errorf("its silence is over in %v", at.Sub(s.now.Time))
			}
		})
	}
}

// With one guardian a member asks before it makes a token; only in the plain paper, without guardians, it does not.
func TestAMemberOfAGateWithOneGuardianAsksBeforeItRegenerates(t *testing.T) {
	for backups, want := range map[int]policy.Note{
		0: wander.NoteRegenerated, 1: wander.NoteInquired, 2: wander.NoteInquired,
	} {
		s := begin(t, withBackups(backups), policy.State{})
		s.fleet(1, 2, 3, 4, 5)
		s.advance(maxInterval)
		if len(s.notes) == 0 || s.notes[0] != want {
			t.Errorf("with %d guardians it notes %v", backups, names(s.notes))
		}
	}
}

// The four members of the second question are distinct, and in a large fleet not neighbours.
func TestNoMemberIsAskedTwiceInOneQuestion(t *testing.T) {
	for _, members := range []int{4, 5, 6, 40} {
		s := guarded(t)
		s.fleet(upTo(members)...)
		s.advance(maxInterval)
		s.sent = nil
		s.advance(timeout/6 + 1)
		asked := s.asked()
		if want := min(members-1, 4); len(asked) < want {
			t.Errorf("in a fleet of %d it asks %v", members, asked)
		}
		for id, times := range asked {
			if times > 1 {
				t.Errorf("in a fleet of %d, %v is asked %d times at once", members, id, times)
			}
		}
		neighbours := 0
		for one := range asked {
			for other := range asked {
				if one[0]+1 == other[0] {
					neighbours++
				}
			}
		}
		if members == 40 && neighbours > 1 {
			t.Errorf("of a fleet of 40 it asks %v", asked)
		}
	}
}

// This also holds where an answer names a member that is asked anyway.
func TestAMemberThatIsNamedAndDrawnIsAskedOnce(t *testing.T) {
	s := guarded(t)
	s.fleet(1, 2, 3)
	s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(2, 90), 2, 3)))
	s.receive(word(guardian.KindTombstone, 1, guardedBy(born(2, 95), 2, 3)))
	s.advance(maxInterval)
	s.sent = nil
	s.advance(timeout/6 + 1)
	for id, times := range s.asked() {
		if times != 1 {
			t.Errorf("%v is asked %d times at once", id, times)
		}
	}
}

// A question carries how many tokens the gate has; otherwise those that are asked would believe that its sender has
// another number.
func TestAQuestionSaysHowManyTokensThereAre(t *testing.T) {
	cfg := withBackups(2)
	cfg.LastSlot = 2
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.advance(maxInterval)
	if asked := s.lastSent(wander.KindInquiry); wander.LastSlotOf(&asked.Load) != 2 {
		t.Errorf("it says that the last slot is %d", wander.LastSlotOf(&asked.Load))
	}
}
