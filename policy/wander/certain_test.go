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

// released starts a member of a fleet of seven that had the token, guarded it, and was released ten seconds ago: from
// then on 1 and 2 guarded it.
func released(t *testing.T) *scenario {
	t.Helper()
	return releasedWith(t, func(*wander.Config) {})
}

func releasedWith(t *testing.T, change func(*wander.Config)) *scenario {
	t.Helper()
	cfg := config()
	cfg.Backups = 2
	change(&cfg)
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	s.arrive(born(1, 10), 1)
	s.advance(op)
	s.finish()
	token, to := s.ack()
	token.Seq += 5
	token.SetTrail(&guardian.Trail{id(1), id(2)})
	s.receive(wire.Message{Gate: 7, Kind: guardian.KindKnown, From: to, To: self, Token: token.Ref, Load: token.Load})
	s.advance(10 * time.Second)
	s.notes, s.sent = nil, nil
	return s
}

// vouches answers the open question: that member has had no token for that long, and knows so many members.
func (s *scenario) vouches(from int, quiet time.Duration, members uint32) {
	s.t.Helper()
	asked := s.lastSent(wander.KindInquiry)
	m := wire.Message{Gate: 7, Kind: wander.KindUnseen, From: id(from), To: self, Exchange: asked.Exchange}
	wander.SetQuiet(&m.Load, quiet)
	wander.SetMembers(&m.Load, members)
	s.receive(m)
}

// all lets those members answer that they have had no token for an hour.
func (s *scenario) all(members uint32, from ...int) {
	s.t.Helper()
	for _, each := range from {
		s.vouches(each, time.Hour, members)
	}
}

// census lets time pass until all are asked.
func (s *scenario) census() { s.t.Helper(); s.advance(2 * (timeout / 2 / 3)) }

func (s *scenario) wantToken(want bool) {
	s.t.Helper()
	if st := s.m.Detail(s.now.Time); (st.Holding || st.Phase == "offering") != want {
		s.t.Fatalf("it holds a token: %v, want %v", st.Holding, want)
	}
}

func TestWhoSeesThatTheLastHoldersAreGoneAsksAll(t *testing.T) {
	s := released(t)
	s.fleet(2, 3, 4, 5, 6, 7)
	s.advance(time.Minute)
	if len(s.sent) > 0 {
		t.Fatalf("it asks although one of the guardians lives: %v", s.sent)
	}
	s.fleet(3, 4, 5, 6, 7)
	s.advance(0)
	s.wantNotes(wander.NoteInquired)
	s.census()
	s.all(7, 4, 5, 6, 7)
	s.wantToken(false)
	s.advance(timeout / 2)
	s.wantToken(true)
	s.wantNotes(wander.NoteReplaced, handoff.NoteOffered)
	token := s.m.Detail(s.now.Time).Token
	if !wander.IsRenewed(token.ID) || wander.IsFirst(token.ID) || token.ID.Generator != self {
		t.Errorf("it makes %v", token)
	}
	s.wantRegenerateAfter(maxInterval) // It was no false alarm.
}

// If the loss is certain, a member that is due runs at once.
func TestWhoReplacesACertainlyLostTokenRunsUnderItIfItIsDue(t *testing.T) {
	s := released(t)
	s.advance(minInterval)
	s.fleet(3, 4, 5, 6, 7)
	s.advance(0)
	s.census()
	s.all(7, 4, 5, 6, 7)
	s.advance(timeout / 2)
	s.wantRuns(2)
}

// Each of these leaves a doubt, and then the member waits for max_interval.
func TestALossIsNotCertainIf(t *testing.T) {
	for name, then := range map[string]func(s *scenario){
		"a member does not answer": func(s *scenario) { s.all(7, 4, 5, 6) },
		"a member has had the token since the question began": func(s *scenario) {
			s.all(7, 4, 5, 6)
			s.vouches(7, 2*(timeout/2/3), 7) // It began that long ago.
		},
		"a member has it, guards it, or is about to get it": func(s *scenario) {
			s.all(7, 4, 5, 6)
			s.vouches(7, 0, 7)
		},
		"a member knows that most others are gone": func(s *scenario) {
			s.all(7, 4, 5, 6)
			s.all(10, 7)
		},
		"a member has come since the question began": func(s *scenario) {
			s.all(7, 4, 5, 6, 7)
			s.fleet(2, 3, 4, 5, 6, 7) // One that was dead, as they thought, a moment ago.
			s.fleet(3, 4, 5, 6, 7)
		},
		"this member has acknowledged an offer": func(s *scenario) {
			s.all(7, 4, 5, 6, 7)
			s.receive(s.offerIn(born(1, 50), 8))
		},
		"this member guards a token": func(s *scenario) {
			s.all(7, 4, 5, 6, 7)
			token := born(1, 50)
			token.SetTrail(&guardian.Trail{self})
			s.receive(wire.Message{
				Gate: 7, Kind: guardian.KindHeartbeat, From: id(8), To: self, Nonce: 1, Token: token.Ref,
				Load: token.Load,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := released(t)
			s.fleet(3, 4, 5, 6, 7)
			s.advance(0)
			s.census()
			then(s)
			s.advance(timeout * 3 / 4)
			s.wantToken(false)
		})
	}
}

// The last one to die may leave the view later than the others: it is asked again until then. If that takes long,
// others may have made a token since they have answered, so all are asked once more.
func TestAMemberThatDoesNotAnswerIsWaitedForUntilItLeavesTheView(t *testing.T) {
	for _, after := range []time.Duration{timeout, 10 * timeout} {
		s := released(t)
		s.fleet(3, 4, 5, 6, 7)
		s.advance(0)
		s.census()
		s.all(7, 4, 5, 6)
		s.advance(after)
		s.wantToken(false)
		s.fleet(3, 4, 5, 6)
		s.advance(0)
		if after > timeout {
			s.wantToken(false)
			s.vouches(4, 2*timeout, 7)
			s.all(7, 5, 6)
			s.advance(timeout / 2)
		}
		s.wantToken(true)
	}
}

// A member that has made a token since it has answered says so when it is asked once more.
func TestATokenThatWasMadeMeanwhileIsNotReplaced(t *testing.T) {
	s := released(t)
	s.fleet(3, 4, 5, 6, 7)
	s.advance(0)
	s.census()
	s.all(7, 4, 5, 6)
	s.advance(10 * timeout)
	s.fleet(3, 4, 5, 6)
	s.advance(0)
	s.vouches(4, 0, 7)
	s.all(7, 5, 6)
	s.advance(10 * timeout)
	s.wantToken(false)
}

// A member that never answers and never leaves the view costs forty datagrams, not one per second for hours.
func TestAMemberThatNeverAnswersIsNotAskedForEver(t *testing.T) {
	s := released(t)
	s.fleet(3, 4, 5, 6, 7)
	s.advance(0)
	s.census()
	s.all(7, 4, 5, 6)
	s.advance(maxInterval - time.Minute)
	s.wantToken(false)
	if n := s.asked()[id(7)]; n > 50 {
		t.Errorf("it is asked %d times", n)
	}
	s.wantNotes(wander.NoteInquired)
	s.advance(time.Minute)
	if !slices.Contains(s.notes, wander.NoteRegenerated) {
		t.Errorf("after max_interval it notes %v", names(s.notes))
	}
}

// More than half of those that were here within max_interval must be here.
func TestAMinorityAsksNobody(t *testing.T) {
	for _, tc := range []struct {
		view []int
		asks bool
	}{{[]int{3, 4, 5, 6}, true}, {[]int{3, 4, 5}, false}} {
		s := released(t)
		s.fleet(tc.view...)
		s.advance(time.Minute)
		if asks := len(s.sent) > 0; asks != tc.asks {
			t.Errorf("%d of 7: it asks: %v", len(tc.view), asks)
		}
	}
	s := released(t)
	s.fleet(3, 4, 5)
	s.advance(time.Minute)
	s.fleet(3, 4, 5, 6) // One is back.
	s.advance(0)
	s.wantNotes(wander.NoteInquired)
}

// Δmax is shorter in a smaller fleet. A member that sees nobody for a moment, and then one more member, is no majority
// because of that: the others are not forgotten.
func TestWhoSeesFewForAMomentForgetsNobody(t *testing.T) {
	s := releasedWith(t, func(cfg *wander.Config) { cfg.MinInterval = op })
	s.fleet(3, 4, 5)
	s.advance(12500 * time.Millisecond) // Δmax is 12 s for one member, 24 s for two.
	s.fleet(3)
	s.fleet(3, 4)
	s.advance(0)
	s.wantNotes()
}

// One at a time, hundreds of members leave and return: none of them is gone. More than 64 at once are too many.
func TestWhoHasLeftAndReturnedIsNotGone(t *testing.T) {
	s := released(t)
	all := []int{1, 2, 3, 4, 5, 6, 7}
	for range 100 {
		for i := range all {
			if all[i] != 3 {
				s.fleet(append(append([]int{}, all[:i]...), all[i+1:]...)...)
				s.fleet(all...)
			}
		}
	}
	s.sent, s.notes = nil, nil
	s.fleet(3, 4, 5, 6, 7)
	s.advance(0)
	s.wantNotes(wander.NoteInquired)

	// After a split into large parts, two tokens would find each other late.
	for _, tc := range []struct {
		gone int
		asks bool
	}{{64, true}, {65, false}} {
		s := released(t)
		all, rest := []int{1, 2, 3, 4, 5, 6, 7}, []int{3, 4, 5, 6, 7}
		for i := range 190 {
			if all = append(all, 10+i); i >= tc.gone-2 {
				rest = append(rest, 10+i)
			}
		}
		s.fleet(all...)
		s.sent, s.notes = nil, nil
		s.fleet(rest...)
		s.advance(time.Minute)
		if asks := len(s.sent) > 0; asks != tc.asks {
			t.Errorf("%d of %d are gone; it asks: %v", tc.gone, len(all), asks)
		}
	}
}

// Where no guardian is configured, the plain paper, max_interval is the rule.
func TestWithoutGuardiansNoLossIsCertain(t *testing.T) {
	s := releasedWith(t, func(cfg *wander.Config) { cfg.Backups = 0 })
	s.fleet(3, 4, 5, 6, 7)
	s.advance(time.Minute)
	s.wantNotes()
}

// answerTo returns the answer to a question of another member.
func (s *scenario) answerTo(t *testing.T) *wire.Load {
	t.Helper()
	s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 5})
	last := &s.sent[len(s.sent)-1]
	if last.Kind != wander.KindSeen && last.Kind != wander.KindUnseen {
		t.Fatalf("it answers %+v", last)
	}
	return &last.Load
}

// A member vouches only for the time in which it had nothing to do with a token, in this life.
func TestAnAnswerTellsForHowLongItsSenderHasHadNoToken(t *testing.T) {
	for name, tc := range map[string]struct {
		then  func(s *scenario)
		quiet time.Duration
	}{
		"released": {func(*scenario) {}, 10 * time.Second},
		"holds it": {func(s *scenario) { s.arrive(born(1, 60), 1) }, 0},
		"has passed it on, and guards it": {func(s *scenario) {
			s.advance(minInterval)
			s.ran(born(1, 60))
			s.advance(timeout / 2)
		}, 0},
		"has acknowledged an offer": {func(s *scenario) { s.receive(s.offerIn(born(1, 60), 1)) }, 0},
		"was offered a token that never came": {func(s *scenario) {
			s.receive(s.offerIn(born(1, 60), 1))
			s.advance(time.Minute)
		}, time.Minute + 10*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := released(t)
			tc.then(s)
			if answer := s.answerTo(t); wander.QuietOf(answer) != tc.quiet || wander.MembersOf(answer) != 7 {
				t.Errorf("no token for %v, and %d members; want %v and 7", wander.QuietOf(answer),
					wander.MembersOf(answer), tc.quiet)
			}
		})
	}
	s := begin(t, config(), policy.State{})
	s.fleet(1, 2, 3)
	s.advance(2 * time.Second)
	if quiet := wander.QuietOf(s.answerTo(t)); quiet != 2*time.Second {
		t.Errorf("a member that was started 2s ago has had no token for %v", quiet)
	}
}

// If several see that the last holders are gone, the one of the lowest identity asks for all of them.
func TestWhoAsksWhetherALossIsCertainGivesWayToALowerIdentity(t *testing.T) {
	s := released(t)
	s.fleet(2, 3, 4, 5, 6, 7)
	token := born(1, 20)
	token.SetTrail(&guardian.Trail{id(1), id(9)})
	s.receive(wire.Message{
		Gate: 7, Kind: guardian.KindKnown, From: id(6), To: self, Token: token.Ref, Load: token.Load,
	})
	s.fleet(2, 3, 4, 5, 6)
	s.advance(0)
	s.wantNotes(wander.NoteInquired)
	s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 5})
	s.sent = nil
	s.advance(timeout - 1)
	if len(s.sent) > 0 {
		t.Fatalf("it asks all the same: %v", s.sent)
	}
	s.advance(1)
	if asked := s.asked(); len(s.sent) != 1 || asked[id(2)] != 1 {
		t.Errorf("it asks %v first", asked)
	}
}

// That is no matter of a few times: who goes on asks beside the other one, and both may be certain at one moment.
func TestWhoAsksWhetherALossIsCertainAlwaysGivesWay(t *testing.T) {
	s := released(t)
	s.fleet(2, 3, 4, 5, 6, 7)
	token := born(1, 20)
	token.SetTrail(&guardian.Trail{id(1), id(9)})
	s.receive(wire.Message{
		Gate: 7, Kind: guardian.KindKnown, From: id(6), To: self, Token: token.Ref, Load: token.Load,
	})
	s.fleet(2, 3, 4, 5, 6)
	s.advance(0)
	for range 30 {
		s.notes = nil
		s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(2), To: self, Exchange: 5})
		s.advance(timeout - 1)
		s.wantNotes()
		s.advance(1)
		s.wantNotes(wander.NoteInquired)
	}
}

// The guardians of a token die, and its holder answers that it has had no token for an hour. Such a lie costs one token
// for a question; after that, the holder of the new token answers. If the holder does not lie, none is made.
func TestAMemberThatLiesAboutItsTokenCostsOneTokenForAQuestion(t *testing.T) {
	for _, lies := range []bool{false, true} {
		cfg := config()
		cfg.Walk, cfg.Backups = wander.Sweep, 2
		f := newFleet(t, 10, cfg)
		for i := range f.members {
			f.seesAll(0, i)
		}
		f.advance(3 * time.Minute)
		holder, gone := -1, guardian.Trail{}
		for i, m := range f.members {
			if d := m.m.Detail(f.now); d.Holding {
				holder, gone = i, d.Trail()
			}
		}
		var left []int
		for i, m := range f.members {
			if m.crashed = gone.Has(id(i)); !m.crashed {
				left = append(left, i)
			}
		}
		if holder < 0 || len(left) != 8 {
			t.Fatalf("%d holds the token, and %d members are left", holder, len(left))
		}
		f.lie = func(sent *wire.Message) (wire.Message, bool) {
			if lies && sent.From == id(holder) && sent.Kind == wander.KindSeen {
				sent.Nonce = wire.Nonce(time.Hour)
				wander.SetQuiet(&sent.Load, time.Hour)
			}
			return wire.Message{}, false
		}
		for _, i := range left {
			if i != holder || !lies { // Otherwise it tells others to keep a copy.
				f.sees(0, i, left...)
			}
		}
		want := 0
		if lies {
			want = 1
		}
		if f.advance(20 * time.Second); f.replaced != want || f.regenerated > 0 {
			t.Errorf("it lies: %v; %d tokens are made, want %d", lies, f.replaced, want)
		}
	}
}
