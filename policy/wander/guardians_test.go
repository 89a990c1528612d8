package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// patience is how long guardians wait for a heartbeat: as long as a handoff waits for its partner.
const patience = timeout

// inGuardedFleet starts a member that has never run, in a fleet of five that has a token with two guardians. It offers
// it to the first of the others.
func inGuardedFleet(t *testing.T) *scenario {
	s := begin(t, withBackups(2), policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// ranLately starts a member that has run under a token a moment ago, in an earlier life.
func ranLately(t *testing.T, cfg wander.Config, under guardian.Token) *scenario {
	t.Helper()
	s := begin(t, cfg, policy.State{
		HasRun: true, LastRun: policy.Time(time.Hour), Memo: soft.Memo{Token: under.ID}.Bytes(), Seq: under.Seq,
	})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

func withBackups(n int) wander.Config {
	cfg := config()
	cfg.Backups, cfg.Entropy = n, lowest{}
	return cfg
}

func trailOf(ids ...int) (t guardian.Trail) {
	for i, each := range ids {
		t[i] = id(each)
	}
	return t
}

// guardedBy returns the token with these guardians.
func guardedBy(t guardian.Token, ids ...int) guardian.Token {
	trail := trailOf(ids...)
	t.SetTrail(&trail)
	return t
}

// word returns a message to this member that belongs to no handoff.
func word(kind wire.Kind, from int, about guardian.Token) wire.Message {
	m := wire.Message{Gate: 7, Kind: kind, From: id(from), To: self, Token: about.Ref, Load: about.Load}
	switch kind {
	case guardian.KindHeartbeat:
		m.Nonce = 1
	case guardian.KindAsk:
		m.Exchange = 5
	}
	return m
}

// askedOf returns the question that was put to a member last.
func (s *scenario) askedOf(to int) wire.Message {
	s.t.Helper()
	for _, m := range slices.Backward(s.sent) {
		if m.Kind == guardian.KindAsk && m.To == id(to) {
			return m
		}
	}
	s.t.Fatalf("%d was not asked: %v", to, s.sent)
	return wire.Message{}
}

// answer answers the question that was last put to a member: it knows no more than the asker.
func (s *scenario) answer(from int) {
	s.t.Helper()
	asked := s.askedOf(from)
	m := word(guardian.KindKnown, from, guardian.TokenOf(&asked))
	m.Exchange = asked.Exchange
	s.receive(m)
}

// answerAll answers the last question for all that were asked: none knows of a holder.
func (s *scenario) answerAll() {
	s.t.Helper()
	asked := s.lastSent(guardian.KindAsk).Exchange
	for _, m := range slices.Clone(s.sent) {
		if m.Kind == guardian.KindAsk && m.Exchange == asked {
			answer := word(guardian.KindKnown, int(m.To[0]), guardian.TokenOf(&m))
			answer.Exchange = asked
			s.receive(answer)
		}
	}
}

func (s *scenario) wantTrail(want ...int) {
	s.t.Helper()
	if d := s.m.Detail(s.now.Time); d.Trail() != trailOf(want...) {
		s.t.Fatalf("its guardians are %v, want %v", d.Trail(), want)
	}
}

// wantTold wants that messages of a kind went to exactly these since the last call.
func (s *scenario) wantTold(kind wire.Kind, want ...int) {
	s.t.Helper()
	var got, ids []wire.MemberID
	for _, m := range s.sent {
		if m.Kind == kind {
			got = append(got, m.To)
		}
	}
	for _, each := range want {
		ids = append(ids, id(each))
	}
	if !slices.Equal(got, ids) {
		s.t.Fatalf("%v went to %v, want %v", kind, got, ids)
	}
	s.sent = nil
}

// keeps makes the member the first guardian of a token, and 2 the second; 1 holds it.
func (s *scenario) keeps(t guardian.Token) {
	s.t.Helper()
	s.receive(word(guardian.KindHeartbeat, 1, guardedBy(t, 3, 2)))
	s.sent = nil
}

// revive lets the holder of the kept token fall silent, until no member knows of it.
func (s *scenario) revive() {
	s.t.Helper()
	s.advance(patience)
	s.answerAll()
	s.notes = slices.DeleteFunc(s.notes, func(n policy.Note) bool { return n == guardian.NoteSuspected })
}

// The guardians are the last holders that are not gone; if these are too few, also the next members by identity.
func TestTheLastHoldersAreTheGuardians(t *testing.T) {
	for _, tc := range []struct {
		name    string
		backups int
		view    []int
		trail   []int
		want    []int
	}{
		{"the last holders", 2, []int{1, 2, 3, 4, 5}, []int{5, 1}, []int{5, 1}},
		{"no more than there are to be", 1, []int{1, 2, 3, 4, 5}, []int{5, 1}, []int{5}},
		{"none", 0, []int{1, 2, 3, 4, 5}, []int{5, 1}, nil},
		{"not one who is gone", 2, []int{1, 2, 3, 4, 5}, []int{9, 1}, []int{1, 4}},
		{"not this member", 2, []int{1, 2, 3, 4, 5}, []int{3, 1}, []int{1, 4}},
		{"the next ones where there are none", 2, []int{1, 2, 3, 4, 5}, nil, []int{4, 5}},
		{"from the beginning again", 4, []int{1, 2, 3, 4, 5}, nil, []int{4, 5, 1, 2}},
		{"nobody twice", 3, []int{1, 2, 3, 4, 5}, []int{5}, []int{5, 4, 1}},
		{"all others where they are few", 4, []int{1, 3, 5}, []int{1}, []int{1, 5}},
		{"the only other", 2, []int{3, 4}, nil, []int{4}},
		{"nobody where nobody is", 2, []int{3}, nil, nil},
		{"the last holders for who has just come and sees nobody yet", 2, []int{3}, []int{1, 2}, []int{1, 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := begin(t, withBackups(tc.backups), policy.State{})
			s.fleet(tc.view...)
			s.arrive(guardedBy(born(1, 10), tc.trail...), 1)
			s.wantTrail(tc.want...)
			s.wantTold(guardian.KindHeartbeat, tc.want...)
		})
	}
}

// A member that has not taken the token cannot help if it is lost: while it is avoided, another one is a guardian.
func TestAMemberThatFailedAHandoffIsNoGuardianForAWhile(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	s.advance(timeout) // 1 fails
	s.arrive(guardedBy(born(1, 1000), 1, 5), 5)
	s.wantTrail(5, 4)
	s.advance(16 * timeout) // 2, 4 and 5 fail, again and again
	s.receive(word(guardian.KindHeartbeat, 2, born(1, 2000)))
	s.wantState("absent")
	s.advance(16 * timeout)
	s.arrive(guardedBy(born(1, 3000), 1, 5), 5)
	s.wantTrail(1, 5)
}

// A member that keeps a copy of a token, or has revived one, announces by gossip that there is one.
func TestAGuardianHasMetItsToken(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(1, 10))
	s.keeps(born(1, 11))
	if s.announced != 1 {
		t.Errorf("that there is a token is announced %d times", s.announced)
	}
}

func TestANewTokenIsGuardedFromTheBeginning(t *testing.T) {
	s := begin(t, withBackups(2), policy.State{})
	s.view(3, 4, 5)
	s.advance(3 * timeout)
	s.wantState("running")
	s.wantTrail(4, 5)
}

func TestTheSenderOfATokenIsItsFirstGuardian(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	if got := guardian.TrailOf(&s.lastSent(handoff.KindToken).Load); got != trailOf(3, 5) {
		t.Errorf("it is offered with the guardians %v", got)
	}
	s.wantTrail(5, 4) // until it is gone
	s.sent = s.sent[len(s.sent)-1:]
	s.ack()
	s.wantTold(guardian.KindKnown, 4)
	s.advance(patience)
	s.wantTold(guardian.KindAsk, 1, 5, 2, 4) // the holder, the guardians, and then the others
}

// A member that is about to leave takes no place in the trail, and no guardian is released for it: the receiver may
// never get the token.
func TestALeavingMemberLeavesTheGuardiansAsTheyAre(t *testing.T) {
	for name, tc := range map[string]struct {
		backups     int
		trail, want []int
	}{
		"two":                   {2, []int{5, 4}, []int{5, 4}},
		"one":                   {1, []int{5}, []int{5}},
		"the one who gets it":   {2, []int{1, 5}, []int{1, 5}},
		"only the one who gets": {1, []int{1}, []int{1}},
		"none":                  {0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, withBackups(tc.backups), policy.State{})
			s.fleet(1, 2, 3, 4, 5)
			s.arrive(guardedBy(born(1, 10), tc.trail...), 5)
			s.leave()
			s.finish()
			if got := guardian.TrailOf(&s.lastSent(handoff.KindToken).Load); got != trailOf(tc.want...) {
				t.Errorf("it is offered with the guardians %v", got)
			}
			s.sent = s.sent[len(s.sent)-1:]
			s.ack()
			s.wantTold(guardian.KindKnown)
			s.advance(linger)
			s.wantState("gone")
			s.wantTold(guardian.KindAsk)
		})
	}
}

// The token of which it keeps a copy is left to the others, however long it takes to leave.
func TestALeavingMemberKeepsNoCopy(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(1, 10))
	s.arrive(born(5, 20), 4)
	s.leave()
	s.finish()
	s.ack()
	s.sent = nil
	s.advance(linger - 1)
	s.wantState("absent")
	s.wantTold(guardian.KindAsk)
}

// The guardians follow the view while the token is here. New ones are told at once.
func TestTheGuardiansFollowTheView(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.sent = nil
	s.fleet(1, 2, 3, 4, 5, 6)
	s.wantTold(guardian.KindHeartbeat, 6) // the newcomer is told, and for the guardians nothing changes
	s.fleet(1, 2, 3, 4, 6)
	s.wantTrail(4, 6)
	s.wantTold(guardian.KindHeartbeat, 4, 6)
	s.fleet(3)
	s.wantTrail(4, 6) // it is cut off, and they are not gone
	s.wantTold(guardian.KindHeartbeat)
	s.fleet(2, 3)
	s.wantTrail(2)
	s.wantTold(guardian.KindHeartbeat, 2)
}

// The revived token is the same token, with a number above all that the lost one can have reached, also after a crash.
// It has rested long enough, and goes on at once.
func TestARevivedTokenIsTheSameAndGoesOn(t *testing.T) {
	s := ranLately(t, withBackups(2), born(1, 10))
	s.keeps(born(1, 20))
	s.revive()
	s.wantNotes(wander.NoteRevived, handoff.NoteOffered)
	s.wantHeld(born(1, 0).ID)
	revived := s.lastSent(handoff.KindToken).Token
	if revived.Seq < wire.Seq(20).NextEpoch() || s.saved.Seq < revived.Seq {
		t.Errorf("its number is %d, and saved is %d", revived.Seq, s.saved.Seq)
	}
	s.wantTrail(2, 4)
	s.wantTold(guardian.KindHeartbeat, 2, 4)
}

func TestADueGuardianRunsUnderTheTokenThatItRevives(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(1, 20))
	s.revive()
	s.wantNotes(wander.NoteRevived, wander.NoteRan)
	s.wantState("running")
}

// In a sweep, a member that is due soon keeps the token until then, but not one that it has revived: others may have
// been due meanwhile.
func TestAGuardianThatIsDueSoonPassesARevivedTokenOn(t *testing.T) {
	cfg := withBackups(2)
	cfg.Walk = wander.Sweep
	s := ranLately(t, cfg, born(1, 10))
	s.advance(minInterval - 3*skip)
	s.keeps(born(1, 20))
	s.revive()
	s.wantNotes(wander.NoteRevived, handoff.NoteOffered)
}

// The holder that was lost with the token is avoided, like a member that fails a handoff.
func TestAHolderThatWasLostWithATokenIsAvoided(t *testing.T) {
	s := ranLately(t, withBackups(2), born(1, 10))
	s.keeps(born(1, 20))
	s.revive()
	if to := s.lastSent(handoff.KindToken).To; to != id(2) {
		t.Errorf("it is offered to %v", to)
	}
}

// By the rules of the paper, as if the token had arrived.
func TestARevivedTokenIsRemovedLikeAnyOther(t *testing.T) {
	s := ranLately(t, withBackups(2), born(1, 10))
	s.keeps(born(5, 20))
	s.revive()
	s.wantNotes(wander.NoteRevived, wander.NoteRemoved)
	s.wantState("absent")
	s.wantTold(guardian.KindTombstone, 2)
}

func TestARevivedTokenMeetsTheOneThatIsHeld(t *testing.T) {
	for name, tc := range map[string]struct {
		held, revived guardian.Token
		running       bool
	}{
		"at rest, an older one":  {born(1, 30), born(5, 20), false},
		"at rest, a younger one": {born(5, 30), born(1, 20), false},
		"running, an older one":  {born(1, 30), born(5, 20), true},
		"running, a younger one": {born(5, 30), born(1, 20), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := inGuardedFleet(t)
			if !tc.running {
				s = ranLately(t, withBackups(2), born(9, 10))
				s.fleet(3) // so that it keeps its token
			}
			s.keeps(tc.revived)
			s.arrive(tc.held, 4)
			s.revive()
			survivor, other := tc.held, tc.revived
			if other.ID.Precedes(survivor.ID) {
				survivor, other = other, survivor
			}
			s.wantHeld(survivor.ID)
			if !slices.Contains(s.notes, wander.NoteMet) {
				t.Errorf("it notes %v", names(s.notes))
			}
			if tc.running && soft.MemoOf(&s.saved.Memo).Token != survivor.ID {
				t.Errorf("saved is a run under %v", soft.MemoOf(&s.saved.Memo).Token)
			}
		})
	}
}

// A token that is discarded for an older one gets a tombstone, or its guardians would revive it.
func TestATokenThatIsDiscardedHasATombstone(t *testing.T) {
	younger := guardedBy(born(5, 1000), 5, 4)
	for name, discard := range map[string]func(s *scenario){
		"after a run under an older one": func(s *scenario) { s.ran(born(1, 10)); s.arrive(younger, 5) },
		"when it meets an older one":     func(s *scenario) { s.arrive(born(1, 10), 1); s.arrive(younger, 5) },
		"when an older one meets it": func(s *scenario) {
			s.arrive(younger, 5)
			s.sent = nil
			s.arrive(born(1, 10), 1)
		},
		"when an older one meets it, resting": func(s *scenario) {
			s.ran(born(6, 10))
			s.arrive(younger, 5)
			s.sent = nil
			s.arrive(born(1, 10), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := inGuardedFleet(t)
			discard(s)
			s.wantTold(guardian.KindTombstone, 5, 4)
			s.receive(word(guardian.KindAsk, 4, younger))
			s.lastSent(guardian.KindTombstone)
		})
	}
}

// A token's number that a holder or a guardian names counts like that of a token that was here.
func TestNoRunIsGrantedBelowANumberThatWasHeardOf(t *testing.T) {
	s := inGuardedFleet(t)
	s.receive(word(guardian.KindAsk, 4, born(5, 1000)))
	s.arrive(born(1, 10), 1)
	if got := s.runs[0].Seq; got <= 1000 {
		t.Errorf("it runs under number %d", got)
	}
}

// An Ask about a token that its sender has offered ends the handoff: the sender has given the token up, and looks for
// it.
func TestAQuestionFromTheSenderEndsAHandoff(t *testing.T) {
	for name, tc := range map[string]struct {
		from int
		ends bool
	}{"from the sender": {1, true}, "from somebody else": {2, false}} {
		t.Run(name, func(t *testing.T) {
			s := inGuardedFleet(t)
			commit := s.acknowledged(born(1, 10), 1)
			s.notes = nil
			s.receive(word(guardian.KindAsk, tc.from, born(1, 11)))
			s.lastSent(guardian.KindKnown)
			s.receive(commit)
			if arrived := s.m.Detail(s.now.Time).Holding; arrived == tc.ends {
				t.Errorf("the token arrives: %v", arrived)
			}
			if tc.ends {
				s.wantNotes(handoff.NoteNoCommit, handoff.NoteStrayCommit)
			}
		})
	}
}

// A restarted member does not become a guardian because of an old message that is replayed now.
func TestAHeartbeatFromBeforeARestartIsNotBelieved(t *testing.T) {
	for _, tc := range []struct {
		seq   wire.Seq
		keeps bool
	}{{999, false}, {1000, true}} {
		s := begin(t, withBackups(2), policy.State{Seq: 1000})
		s.fleet(1, 2, 3, 4, 5)
		s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(1, tc.seq), 3)))
		s.notes = nil
		s.advance(patience)
		if got := slices.Contains(s.notes, guardian.NoteSuspected); got != tc.keeps {
			t.Errorf("it keeps a copy with the number %d: %v", tc.seq, got)
		}
	}
}

// It is told that it has been overtaken, as it always is.
func TestALowerCopyOfTheTokenThatIsHeldIsAnswered(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 1000), 5, 4), 5)
	s.sent = nil
	s.receive(word(guardian.KindHeartbeat, 2, born(1, 10)))
	s.wantTold(guardian.KindHeartbeat, 2)
}

func TestAMemberThatIsGoneIgnoresAllMessages(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.leave()
	s.advance(linger)
	s.wantState("gone")
	s.notes, s.sent = nil, nil
	for _, kind := range []wire.Kind{
		guardian.KindHeartbeat, guardian.KindAsk, guardian.KindKnown, guardian.KindTombstone, wander.KindInquiry,
	} {
		s.receive(word(kind, 1, guardedBy(born(1, 20), 3)))
		s.wantNotes(guardian.NoteStrayWord)
	}
	if len(s.sent) > 0 {
		t.Errorf("it sends %v", s.sent)
	}
}

// The holder is cut off: its guardians revive the token within two patiences, it goes on round, and when the holder is
// back there is one again.
func TestATokenThatIsCutOffIsRevivedAndOneIsLeft(t *testing.T) {
	for _, walk := range wander.Walks() {
		t.Run(walk.String(), func(t *testing.T) {
			cfg := config()
			cfg.Walk, cfg.Backups = walk, 2
			f := newFleet(t, 6, cfg)
			for i := range f.members {
				f.seesAll(0, i)
			}
			f.advance(2 * time.Minute)
			holders := func() (at []int) {
				for i, m := range f.members {
					if m.m.Status(f.now).Holding {
						at = append(at, i)
					}
				}
				return at
			}
			for tries := 0; len(holders()) != 1; tries++ {
				if tries == 1000 {
					t.Fatalf("the token is at %v", holders())
				}
				f.advance(time.Millisecond)
			}
			cut := holders()[0]
			f.broken = func(from, to int) bool { return from == cut || to == cut }
			f.advance(2 * patience)
			// The holder that was cut off may have noticed by then.
			if at := holders(); !slices.ContainsFunc(at, func(i int) bool { return i != cut }) {
				t.Fatalf("the token is at %v", at)
			}
			f.advance(10 * patience)
			f.broken = nil
			f.advance(10 * patience)
			if f.created != 1 || f.regenerated != 0 {
				t.Errorf("%d tokens were regenerated", f.regenerated)
			}
			for range 100 {
				f.advance(patience / 10)
				if at := holders(); len(at) > 1 {
					t.Fatalf("the token is at %v", at)
				}
			}
		})
	}
}

// The removal rule goes before the rule of tokens that meet: a token that must be removed is removed even where another
// is held, as it arrives, as it is revived, and as a copy of the held one. It never replaces the held one.
func TestATokenThatMustBeRemovedReplacesNoneThatIsHeld(t *testing.T) {
	// It has run under a token less than min_interval ago, keeps a copy of another one, and holds a third, made since.
	holding := func(t *testing.T) (s *scenario, held guardian.Token) {
		cfg := withBackups(2)
		cfg.MaxInterval = minInterval / 2
		s = begin(t, cfg, policy.State{
			HasRun: true, LastRun: policy.Time(time.Hour), Memo: soft.Memo{Token: born(1, 10).ID}.Bytes(), Seq: 10,
		})
		s.fleet(3)
		s.advance(minInterval / 2)
		s.wantState("resting")
		s.notes, s.sent = nil, nil
		d := s.m.Detail(s.now.Time)
		return s, guardian.Token{Ref: d.Token, Load: d.Load}
	}
	for name, tc := range map[string]struct {
		comes func(s *scenario, held guardian.Token)
		kept  bool
	}{
		"as it arrives": {func(s *scenario, _ guardian.Token) { s.arrive(born(2, 20), 4) }, true},
		"as it is revived": {func(s *scenario, _ guardian.Token) {
			s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(2, 1<<40), 3)))
			s.advance(2 * patience)
		}, true},
		"as a copy of the held one": {func(s *scenario, held guardian.Token) {
			held.Seq += 9
			s.arrive(held, 4)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, held := holding(t)
			tc.comes(s, held)
			if !slices.Contains(s.notes, wander.NoteRemoved) || slices.Contains(s.notes, wander.NoteMet) {
				t.Errorf("it notes %v", names(s.notes))
			}
			if st := s.m.Detail(s.now.Time); st.Holding != tc.kept || st.Token.ID != held.ID {
				t.Errorf("it holds %v (%v), and %v was held", st.Token.ID, st.Holding, held.ID)
			}
		})
	}
}

// wantPreSigned wants that the guard of the run has a Yield of the token, as it is held, for exactly these members.
func (s *scenario) wantPreSigned(want ...int) {
	s.t.Helper()
	held := s.m.Detail(s.now.Time)
	if len(s.preSigned) != len(want) {
		s.t.Fatalf("the guard of the run is to tell %d members, want %v", len(s.preSigned), want)
	}
	for i, m := range s.preSigned {
		if m != (wire.Message{
			Gate: 7, Kind: guardian.KindYield, From: self, To: id(want[i]), Token: held.Token, Load: held.Load,
		}) {
			s.t.Fatalf("the guard of the run is to say %+v, and %+v is held", m, held.Token)
		}
	}
}

// If the process dies during a run, the guard of the run tells the guardians of the token by then.
func TestTheGuardOfARunHasAYieldOfTheHeldToken(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.wantState("running")
	s.wantPreSigned(5, 4)
	s.fleet(1, 2, 3, 5)
	s.wantPreSigned(5, 1)
	s.arrive(guardedBy(born(0, 20), 2, 1), 2)
	s.wantPreSigned(2, 1)
	s.advance(patience + 1)
	s.step(policy.Event{Kind: policy.Suspended, Slept: time.Hour})
	s.wantState("running")
	s.wantPreSigned()
}

// A member that has lost its token to another holder has nothing to yield.
func TestTheGuardOfARunThatWasOvertakenSaysNothing(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	heartbeat := word(guardian.KindHeartbeat, 2, guardedBy(born(1, 1000), 5, 4))
	s.receive(heartbeat)
	s.wantState("running")
	s.wantPreSigned()
}
