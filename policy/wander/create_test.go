package wander_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The first token of a fleet. The paper starts with a token in place.

func TestAFleetThatStartsAtOnceMakesOneToken(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10} {
		t.Run(fmt.Sprintf("%d members", n), func(t *testing.T) {
			f := newFleet(t, n, config())
			for i := range n {
				f.seesAll(time.Duration(i)*time.Second/time.Duration(n), i)
			}
			f.advance(5 * timeout)
			f.wantOneToken()
			f.advance(maxInterval)
			f.wantOneToken()
			for _, m := range f.members {
				if m.runs == 0 {
					t.Errorf("member %d has not run", m.index)
				}
			}
		})
	}
}

// Views come in pieces: each member sees the others in its own order, one after the other, and for a while most members
// believe that they rank first. As long as the view still grows, no member makes a token.
func TestAFleetWhoseViewsComeInPiecesMakesOneToken(t *testing.T) {
	for seed := range uint64(20) {
		const n = 8
		f := newFleet(t, n, config())
		random := rand.New(rand.NewPCG(seed, 0))
		for i := range n {
			at, order := time.Duration(0), random.Perm(n)
			order = slices.DeleteFunc(order, func(o int) bool { return o == i })
			for seen := 1; seen < n; seen++ {
				at += time.Duration(random.Int64N(int64(3 * timeout)))
				f.sees(at, i, order[:seen]...)
			}
		}
		f.advance(60 * timeout)
		f.wantOneToken()
	}
}

// A view that never settles does not keep a fleet from starting.
func TestAViewThatNeverSettlesIsWaitedForFortyTimeouts(t *testing.T) {
	s := begin(t, config(), policy.State{})
	for i := range 40 {
		s.view([]int{3, 4, 5}[:2+i%2]...)
		s.wantNotes()
		s.advance(timeout - 1)
		s.wantNotes()
		s.advance(1)
	}
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
}

// Members create it in the order of rank: settleTimeouts after the view settled, and staggerTimeouts later for each
// lower rank. All but the first ask then.
func TestAMemberCreatesInItsTurn(t *testing.T) {
	for rank, view := range [][]int{{3, 4, 5}, {2, 3, 4}, {1, 2, 3}} {
		s := begin(t, config(), policy.State{})
		s.view(view...)
		s.advance(time.Duration(3+8*rank)*timeout - 1)
		s.wantNotes()
		s.advance(1)
		if rank > 0 {
			s.wantNotes(wander.NoteInquired)
			s.advance(timeout/2 - 1)
			s.wantNotes()
			s.advance(1)
		}
		s.wantNotes(wander.NoteCreated, wander.NoteRan)
		if s.announced != 1 {
			t.Errorf("rank %d: it announced its token %d times", rank, s.announced)
		}
	}
}

func TestTheNextInRankCreatesWhereTheFirstIsGone(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(2, 3, 4)
	s.advance(4 * timeout)
	s.view(3, 4)
	s.advance(3*timeout - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
}

func TestAMemberThatKnowsOfATokenCreatesNone(t *testing.T) {
	for name, met := range map[string]func(s *scenario){
		"by gossip": func(s *scenario) { s.fleet(3, 4, 5) },
		"by itself": func(s *scenario) { s.ran(born(1, 10)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.view(3, 4, 5)
			met(s)
			s.advance(maxInterval - 1)
			s.wantNotes()
			s.advance(1)
			s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
		})
	}
}

// The members that knew of a token may leave before it got any further.
func TestATokenThatNobodyKnowsOfAnyMoreIsCreatedAgain(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.fleet(2, 3, 4)
	s.advance(time.Minute)
	s.view(3, 4)
	s.advance(3 * timeout)
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
}

// It asks the first in rank, and then also those after it: one of them has made the token if any member has.
func TestAMemberAboutToCreateAsksTheFirstInRank(t *testing.T) {
	for _, tc := range []struct{ view, asked []int }{
		{[]int{1, 2, 3}, []int{1, 2}},
		{[]int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 4}},
		{[]int{2, 3, 4, 5, 6, 7, 8}, []int{2, 4, 5, 6}},
	} {
		s := begin(t, config(), policy.State{})
		s.view(tc.view...)
		s.advance(time.Duration(3+8*slices.Index(tc.view, 3)) * timeout)
		s.wantTold(wander.KindInquiry, tc.asked[0])
		s.advance(timeout / 6)
		s.wantTold(wander.KindInquiry, tc.asked...)
		s.advance(timeout/2 - timeout/6 - 1)
		s.wantTold(wander.KindInquiry, tc.asked...)
	}
}

// The answer is slower than the patience of the next in rank.
func TestAMemberThatIsToldOfATokenCreatesNone(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(2, 3, 4)
	s.advance(11 * timeout)
	s.wantNotes(wander.NoteInquired)
	s.seen(born(1, 1), 8*time.Second)
	s.wantNotes(wander.NoteSeen)
	if s.announced != 1 {
		t.Errorf("it announced the token %d times", s.announced)
	}
	s.advance(maxInterval - 8*time.Second - 1)
	s.wantNotes()
}

// The gossip about the token is so slow that all the others have had their turn before it comes.
func TestAFleetThatGossipsSlowlyMakesOneToken(t *testing.T) {
	for seed := range uint64(20) {
		const n = 5
		f := newFleet(t, n, config())
		f.gossip = 50 * timeout
		random := rand.New(rand.NewPCG(seed, 1))
		for i := range n {
			f.seesAll(time.Duration(random.Int64N(int64(8*timeout))), i)
		}
		f.advance(60 * timeout)
		f.wantOneToken()
	}
}

// A handoff in progress may bring the token that is about to be created.
func TestNobodyCreatesWhileATokenIsArriving(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3, 4)
	s.advance(3*timeout - time.Millisecond)
	commit := s.acknowledged(born(1, 10), 4)
	s.advance(2 * time.Millisecond)
	s.wantNotes()
	s.receive(commit)
	s.wantNotes(wander.NoteArrived, wander.NoteRan)
}

func TestATokenIsAnnouncedOnce(t *testing.T) {
	s := inFleet(t)
	for range 3 {
		s.ran(born(1, 10))
		s.advance(minInterval)
	}
	if s.announced != 1 {
		t.Errorf("it announced a token %d times", s.announced)
	}
}

// Without --join, or with --alone run, a member that sees no other is a fleet of one at once.
func TestAMemberAloneIsAFleetOfOneAtOnce(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3)
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
}

// --alone wait: "an agent with --join that sees nobody waits and says so", for as long as it takes.
func TestAMemberThatHasJoinedAFleetWaitsForIt(t *testing.T) {
	cfg := config()
	cfg.WaitsAlone = true
	s := begin(t, cfg, policy.State{})
	s.view(3)
	s.wantNotes(wander.NoteWaiting)
	s.view(3)
	s.advance(10 * maxInterval)
	s.wantNotes()
	if st := s.m.Detail(s.now.Time); st.Why != wander.WhyAlone || st.RegenerateArmed {
		t.Errorf("its status is %+v", st)
	}

	// The time in which it waited does not count as a silence of the token.
	s.fleet(1, 2, 3)
	s.advance(maxInterval - 1)
	s.wantNotes()
	s.advance(1)
	s.wantNotes(wander.NoteRegenerated, handoff.NoteOffered)
}

func TestAMemberThatWaitedCreatesWithTheFirstToCome(t *testing.T) {
	cfg := config()
	cfg.WaitsAlone = true
	s := begin(t, cfg, policy.State{})
	s.view(3)
	s.advance(10 * maxInterval)
	s.view(3, 4)
	s.advance(3 * timeout)
	s.wantNotes(wander.NoteWaiting, wander.NoteCreated, wander.NoteRan)
}

// A restart is no reason to found a second fleet: a member that was in one waits for it, with --join and without. But
// the others may be gone for good, and a soft gate never blocks because hosts are away: it waits as long as for a lost
// token.
func TestAMemberThatWasInAFleetWaitsForItAsLongAsForALostToken(t *testing.T) {
	for _, waits := range []bool{false, true} {
		cfg := config()
		cfg.WaitsAlone, cfg.Rejoins = waits, true
		s := begin(t, cfg, policy.State{})
		s.view(3)
		s.wantNotes(wander.NoteWaiting)
		if st := s.m.Detail(s.now.Time); st.Why != wander.WhyAlone || !st.RegenerateArmed ||
			st.RegenerateAt != s.now.Time.Add(maxInterval) {
			t.Errorf("its status is %+v", st)
		}
		s.advance(maxInterval - 1)
		s.wantNotes()
		s.advance(1)
		s.wantNotes(wander.NoteRegenerated, wander.NoteRan)
		s.finish()
		s.wantNotes(wander.NoteAlone, wander.NoteResting)
		if st := s.m.Detail(s.now.Time); st.Why != pace.WhyTooSoon {
			t.Errorf("it says %q with a token of its own", st.Why)
		}
	}
}

// max_interval counts the members that are there, not those that the member remembers: a restart cannot be told from a
// cut, and if the others are gone for good, 3 × members × op would be long.
func TestARestartedMemberWaitsForItsFleetAsLongAsOneThatIsCutOff(t *testing.T) {
	cfg := config()
	cfg.MinInterval = op
	cut := begin(t, cfg, policy.State{})
	cut.fleet(1, 2, 3, 4, 5)
	cut.ran(born(1, 10))
	cut.wantRegenerateAfter(15 * op)
	cut.fleet(3)
	cut.wantRegenerateAfter(3 * op)
	cfg.Rejoins = true
	restarted := begin(t, cfg, policy.State{})
	restarted.view(3)
	restarted.wantRegenerateAfter(3 * op)
	restarted.advance(3*op - 1)
	restarted.wantNotes(wander.NoteWaiting)
	restarted.advance(1)
	restarted.wantNotes(wander.NoteRegenerated, wander.NoteRan)
}

// A whole fleet that was switched off remembers itself, and still makes its first token at once.
func TestAMemberThatWasInAFleetCreatesWithTheFirstToCome(t *testing.T) {
	cfg := config()
	cfg.Rejoins = true
	s := begin(t, cfg, policy.State{})
	s.view(3)
	s.advance(maxInterval - time.Second)
	s.view(3, 4)
	s.advance(3 * timeout)
	s.wantNotes(wander.NoteWaiting, wander.NoteCreated, wander.NoteRan)
}

// A member that has had company goes on alone when the others are gone: a soft gate never waits for members that are
// away.
func TestAMemberThatHasHadCompanyDoesNotWait(t *testing.T) {
	for name, company := range map[string]func(s *scenario){
		"in its view": func(s *scenario) { s.fleet(3, 4) },
		"by a token":  func(s *scenario) { s.arrive(born(2, 10), 4) }, // which is removed
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.WaitsAlone = true
			earlier := policy.Time(time.Hour - time.Minute)
			s := begin(t, cfg, policy.State{
				HasRun: true, LastRun: earlier, Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 1,
			})
			s.view(3)
			company(s)
			s.view(3)
			s.wantState("absent")
			s.advance(maxInterval)
			s.wantRuns(1)
		})
	}
}

// A restart within min_interval: the first token is made, or kept, without a run.
func TestARestartWithinMinIntervalDoesNotRun(t *testing.T) {
	earlier := policy.Time(time.Hour - time.Minute)
	saved := policy.State{HasRun: true, LastRun: earlier, Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 50}
	t.Run("alone", func(t *testing.T) {
		s := begin(t, config(), saved)
		s.view(3)
		s.wantNotes(wander.NoteCreated, wander.NoteAlone, wander.NoteResting)
		s.advance(minInterval - time.Minute - 1)
		s.wantRuns(0)
		s.advance(1)
		s.wantRuns(1)
	})
	t.Run("in a fleet", func(t *testing.T) {
		s := begin(t, config(), saved)
		s.fleet(1, 2, 3)
		s.arrive(born(1, 60), 1)
		s.wantNotes(wander.NoteArrived, wander.NoteResting)
	})
	t.Run("and removes what the earlier life would have removed", func(t *testing.T) {
		s := begin(t, config(), saved)
		s.fleet(1, 2, 3)
		s.arrive(born(2, 60), 1)
		s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
	})
}

// A run that was saved under a wrong wall clock must not keep a member from running for more than min_interval.
func TestASavedRunInTheFutureCountsAsOneNow(t *testing.T) {
	for _, lastRun := range []policy.Time{1<<63 - 1, policy.Time(24 * 365 * time.Hour)} {
		s := begin(t, config(), policy.State{
			HasRun: true, LastRun: lastRun, Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 50,
		})
		s.view(3)
		s.wantNotes(wander.NoteCreated, wander.NoteAlone, wander.NoteResting)
		s.advance(minInterval - 1)
		s.wantRuns(0)
		s.advance(1)
		s.wantRuns(1)
	}
}

func TestASavedRunInTheFarPastIsOver(t *testing.T) {
	s := begin(t, config(), policy.State{
		HasRun: true, LastRun: -1 << 63, Memo: soft.Memo{Token: born(1, 0).ID}.Bytes(), Seq: 50,
	})
	s.view(3)
	s.wantNotes(wander.NoteCreated, wander.NoteRan)
}

// Whatever was saved and whatever the wall clock reads, a datagram can carry the token.
func TestATokenFitsIntoADatagram(t *testing.T) {
	for _, birth := range []int64{-1 << 63, -5, 0, wire.MaxBirth - 1, wire.MaxBirth, 1<<63 - 1} {
		for _, wall := range []int64{-1 << 63, -5, 0, noon, wire.MaxBirth + 5, 1<<63 - 1} {
			for _, seq := range []wire.Seq{0, 1, wire.MaxSeq - 1, wire.MaxSeq, 1<<64 - 1} {
				s := begin(t, config(), policy.State{
					Memo: soft.Memo{Token: wire.TokenID{Birth: birth}}.Bytes(), Seq: seq,
				})
				s.now.Wall = wall
				s.view(3, 4)
				s.advance(3 * timeout)
				s.finish()
				msg := s.lastSent(handoff.KindToken)
				if got, ok := wire.Parse(msg.Append(nil)); !ok || got != *msg {
					t.Errorf("birth %d, wall %d, seq %d: the token %+v cannot be sent", birth, wall, seq, msg.Token)
				}
			}
		}
	}
}

// A member that has just come back may be the first in rank, and hear of the others' token by gossip only after it
// would make the first one. A holder greets it. That may be a replay, so the member asks the holder, and believes the
// answer.
func TestAMemberThatAHolderHasGreetedAsksItBeforeItCreates(t *testing.T) {
	greeting := func(seq wire.Seq) wire.Message {
		token := first(1, seq)
		return wire.Message{
			Gate: 7, Kind: guardian.KindHeartbeat, From: id(6), To: self, Nonce: 1, Token: token.Ref, Load: token.Load,
		}
	}
	for name, c := range map[string]struct {
		then func(s *scenario)
		want []policy.Note
	}{
		"it answers": {
			func(s *scenario) { s.seen(first(1, 20), 1); s.advance(timeout) }, []policy.Note{wander.NoteSeen},
		},
		"it is silent, as it never sent this": {
			func(s *scenario) { s.advance(timeout / 2) }, []policy.Note{wander.NoteCreated, wander.NoteRan},
		},
		"it is gone": {
			func(s *scenario) { s.view(4, 5); s.advance(4 * timeout) },
			[]policy.Note{wander.NoteInquired, wander.NoteCreated, wander.NoteRan},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.view(4, 5, 6, 7, 8, 9)
			s.receive(greeting(20))
			s.wantNotes()
			s.advance(3 * timeout)
			s.wantNotes(wander.NoteInquired)
			if asked := s.asked(); len(asked) != 1 || asked[id(6)] != 1 {
				t.Errorf("it asks %v first", asked)
			}
			c.then(s)
			s.wantNotes(c.want...)
		})
	}
	t.Run("a number below its own", func(t *testing.T) {
		s := begin(t, config(), policy.State{Seq: 30})
		s.view(4, 5, 6)
		s.receive(greeting(20))
		s.advance(3 * timeout)
		s.wantNotes(guardian.NoteStrayWord, wander.NoteCreated, wander.NoteRan)
	})
}

// A member whose turn was earlier has come back, and asks the one whose turn it is: that one gives way, else both would
// make a token at one moment. It asks again before it makes one.
func TestAMemberInItsTurnGivesWayToOneWhoseTurnWasEarlier(t *testing.T) {
	for name, c := range map[string]struct {
		from int
		then []policy.Note
	}{
		"an earlier one": {2, []policy.Note{wander.NoteInquired}},
		"a later one":    {4, []policy.Note{wander.NoteCreated, wander.NoteRan}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.view(2, 4, 5)
			s.advance((3 + 8) * timeout)
			s.wantNotes(wander.NoteInquired)
			s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(c.from), To: self, Exchange: 5})
			s.advance(timeout)
			s.wantNotes(c.then...)
		})
	}
}
