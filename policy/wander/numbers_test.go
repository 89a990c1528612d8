package wander_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// forged returns a message of every kind that carries a token whole, about a token with some number.
func forged(s *scenario, kind wire.Kind, token guardian.Token) wire.Message {
	m := wire.Message{Gate: 7, Kind: kind, From: id(1), To: self, Exchange: 99, Token: token.Ref, Load: token.Load}
	switch kind {
	case handoff.KindToken:
		m = s.offerIn(token, 1)
	case guardian.KindHeartbeat, guardian.KindHeard:
		m.Nonce = 1 << 40
	case wander.KindSeen:
		asked := s.lastSent(wander.KindInquiry)
		m.From, m.Exchange, m.Nonce = asked.To, asked.Exchange, 1
	}
	return m
}

// carriers are the kinds that can bring a number that is news. Ack and Commit repeat one of an offer, an Inquiry has
// none.
var carriers = []wire.Kind{
	handoff.KindToken, guardian.KindHeartbeat, guardian.KindAsk, guardian.KindHeard, guardian.KindKnown,
	guardian.KindTombstone, wander.KindSeen, guardian.KindYield,
}

// No message raises a number to one that no fleet can have reached: it is refused, and the note names its sender.
func TestAnImpossibleNumberIsRefused(t *testing.T) {
	for _, kind := range carriers {
		for _, ofHeld := range []bool{false, true} {
			s := guarded(t)
			token := born(1, wire.MaxSeq-1)
			token.SetTrail(&guardian.Trail{self})
			if ofHeld {
				s.arrive(born(1, 1000), 2)
				token.ID = s.m.Detail(s.now.Time).Token.ID
			}
			if kind == wander.KindSeen {
				if ofHeld {
					continue // No member asks for a token that it holds.
				}
				s.advance(maxInterval)
			}
			s.notes = nil
			before := *s.m
			sent := len(s.sent)
			s.receive(forged(s, kind, token))
			s.wantNotes(soft.NoteSeqRefused)
			answers := 0
			if kind == guardian.KindAsk {
				answers = 1 // It is a question all the same.
			}
			if e := &s.out[0]; len(s.out) != 1+answers || e.Peer.IsZero() || len(s.sent) != sent+answers {
				t.Errorf("%v: it does %+v", kind, s.out)
			}
			if !reflect.DeepEqual(*s.m, before) && (answers == 0 || !ofHeld) {
				t.Errorf("a refused %v changed something", kind)
			}
		}
	}
}

// A member that has seen no number yet accepts the fleet's, however high, if a fleet can have reached it.
func TestANewcomerTakesTheFleetsNumber(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, wire.LatestSeq(s.now.Wall)), 2)
	s.wantRuns(1)
	if got := s.runs[0].Seq; got != wire.LatestSeq(s.now.Wall).After() {
		t.Errorf("it runs under number %d", got)
	}
}

// Many jumps come no further than one, and there is room above the number that they reach: numbers rise with every run,
// and a day later no member refuses them, however slow its clock.
func TestANumberThatJumpedToTheLimitCanStillRise(t *testing.T) {
	s := inFleet(t)
	var raised wire.Seq
	for range 60 {
		s.advance(time.Second)
		raised = wire.LatestSeq(s.now.Wall)
		s.receive(s.offerIn(born(1, raised), 1))
		s.receive(s.offerIn(born(1, raised+1<<32), 1))
	}
	s.advance(maxInterval)
	made := s.lastSent(handoff.KindToken).Token.Seq
	if made != raised.NextEpoch() {
		t.Errorf("a new token has number %d after %d", made, raised)
	}
	dayLater := s.now.Wall + int64(24*time.Hour)
	if made > wire.LatestSeq(dayLater-int64(12*time.Hour)) {
		t.Errorf("a day later, %d is refused where a clock is half a day slow", made)
	}
}

// A stamp in the future does not count as the newest: a token that is made later has this member's clock, and precedes
// it.
func TestAStampInTheFutureIsNotTheNewest(t *testing.T) {
	for _, kind := range carriers {
		if kind == guardian.KindYield {
			continue // It is about a token whose stamp is known.
		}
		s := guarded(t)
		if kind == wander.KindSeen {
			s.advance(maxInterval)
		}
		s.notes = nil
		token := born(1, 50)
		token.ID.Birth = wire.MaxBirth
		token.SetTrail(&guardian.Trail{self})
		s.receive(forged(s, kind, token))
		refused := 0
		for _, n := range s.notes {
			if n == soft.NoteBirthRefused {
				refused++
			}
		}
		// What Heard and Known would tell was not asked for.
		if news := kind != guardian.KindHeard && kind != guardian.KindKnown; news != (refused == 1) {
			t.Errorf("%v: notes %v", kind, names(s.notes))
		}
		made := remade(s)
		if made.ID.Birth > s.now.Wall {
			t.Errorf("after a %v, a token is made with the stamp %d, %v ahead", kind, made.ID.Birth,
				time.Duration(made.ID.Birth-s.now.Wall))
		}
	}
}

// remade lets this member be alone until it makes a token, and returns it.
func remade(s *scenario) wire.Ref {
	s.t.Helper()
	s.fleet(3)
	s.advance(20 * maxInterval)
	return s.m.Detail(s.now.Time).Token
}

// A member whose clock was in the future when it made a token makes the next one by its clock, once that was set back.
func TestAClockThatWasSetBackLeavesNoStamp(t *testing.T) {
	s := inFleet(t)
	ahead := int64(73 * 365 * 24 * time.Hour)
	s.now.Wall += ahead
	s.advance(maxInterval)
	if made := s.lastSent(handoff.KindToken).Token; made.ID.Birth < ahead {
		t.Fatalf("its stamp is %d", made.ID.Birth)
	}
	s.ack()
	s.now.Wall -= ahead
	s.advance(10 * maxInterval)
	if made := s.lastSent(handoff.KindToken).Token; made.ID.Birth > s.now.Wall {
		t.Errorf("the next stamp is %v ahead", time.Duration(made.ID.Birth-s.now.Wall))
	}
}

// A clock that was never set judges no stamp: by it, every token was made in the future, and a new one made here must
// not precede them.
func TestAClockThatWasNeverSetJudgesNoStamp(t *testing.T) {
	s := inFleet(t)
	s.now.Wall = int64(time.Hour)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
	s.finish()
	theirs, _ := s.ack()
	s.notes = nil
	if made := remade(s); !theirs.ID.Precedes(made.ID) {
		t.Errorf("%v precedes %v, which was there before", made.ID, theirs.ID)
	}
}

// A Byzantine member may have named a number above all that the fleet has reached. The holder's answer to this member's
// own question is no replay.
func TestAHolderThatAnswersIsHeardWhateverItsNumber(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(10, 1000))
	s.advance(patience)
	heartbeat := word(guardian.KindHeartbeat, 4, guardedBy(born(1, 10), 5))
	heartbeat.Exchange = s.askedOf(4).Exchange
	s.receive(heartbeat)
	s.advance(patience - 1)
	if s.m.Detail(s.now.Time).Holding {
		t.Error("it revives a token although another member holds one")
	}
}
