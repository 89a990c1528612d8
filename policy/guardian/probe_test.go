package guardian_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A holder that was not away asks only whether it can hear any other member: the first answer is enough. Without an
// answer it hears none.
func TestAProbeEndsWithTheFirstAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		lose  func(m *wire.Message) bool
		after time.Duration
		want  guardian.Ending
	}{
		"both guardians answer": {func(*wire.Message) bool { return false }, 2 * latency, guardian.Answered},
		"one of them answers": {
			func(m *wire.Message) bool { return m.From == bobsID }, 2 * latency,
			guardian.Answered,
		},
		"neither answers": {func(m *wire.Message) bool { return m.To == annsID }, patience / 2, guardian.Sure},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCircle(t)
			c.advance(patience / 4)
			c.lose = tc.lose
			c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Probe(c.now, c.ann.held(), nil))
			c.advance(tc.after - 1)
			c.wantEndings(c.ann)
			c.advance(1)
			c.wantEndings(c.ann, tc.want)
		})
	}
}

// probing is ann, who holds the token and hears no other member, and a fleet of members without the token that is too
// large to be asked at once.
func probing(t *testing.T) (c *circle, fleet []wire.MemberID) {
	t.Helper()
	c = newCircle(t)
	c.lose = func(m *wire.Message) bool { return m.To == annsID }
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Probe(c.now, c.ann.held(), nil))
	fleet = make([]wire.MemberID, 2*guardian.MostAsked+10)
	for i := range fleet {
		binary.BigEndian.PutUint16(fleet[i][:], uint16(i)+1<<12)
	}
	return c, fleet
}

// asked are the members of a fleet that ann asks now, if they are to be asked, and the question.
func (c *circle) asked(fleet []wire.MemberID) (asked []wire.MemberID, question wire.Exchange) {
	out := c.ann.g.AskOthers(fleet, c.ann.held(), nil)
	for i := range out {
		asked, question = append(asked, out[i].Msg.To), out[i].Msg.Exchange
	}
	return asked, question
}

// A holder that gets no answer asks its guardians first. If they are silent, it asks other members before it concludes
// that it hears none.
func TestAProbeOfALargeFleetAsksSomeOthersWhenTheGuardiansAreSilent(t *testing.T) {
	c, fleet := probing(t)
	if asked, _ := c.asked(fleet); len(asked) > 0 {
		t.Errorf("%d others are asked with the guardians", len(asked))
	}
	c.advance(patience / 8)
	asked, question := c.asked(fleet)
	if !slices.Equal(asked, fleet[:guardian.MostAsked]) {
		t.Errorf("%d others are asked", len(asked))
	}
	c.lose = nil
	answer := message(guardian.KindKnown, c.ann, c.ann, c.ann.token)
	answer.From, answer.Exchange = fleet[7], question
	c.receive(answer)
	c.wantEndings(c.ann, guardian.Answered)
}

// A holder of another token of the gate answers with that token. Its answer is as good.
func TestAnAnswerOfAnotherTokensHolderEndsAProbe(t *testing.T) {
	c, fleet := probing(t)
	c.advance(patience / 8)
	answer := message(guardian.KindHeartbeat, c.dan, c.ann, born(20, 1))
	_, answer.Exchange = c.asked(fleet)
	c.receive(answer)
	c.wantEndings(c.ann, guardian.Answered)
}

// Each question goes to others, until all were asked; then the times between the questions double.
func TestAHolderThatHearsNobodyAsksAllMembersInTurn(t *testing.T) {
	c, fleet := probing(t)
	c.advance(patience / 8)
	asked, _ := c.asked(fleet)
	c.advance(patience)
	c.wantEndings(c.ann, guardian.Sure)
	c.ann.holds = false
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{}, c.ann.g.Yield(c.now, &c.ann.token, nil))
	for until := c.now.Add(3 * patience); c.now < until; c.advance(patience / 16) {
		now, _ := c.asked(fleet)
		for _, id := range now {
			if !slices.Contains(asked, id) {
				asked = append(asked, id)
			}
		}
	}
	if !slices.Equal(asked, fleet) {
		t.Errorf("%d of %d members are asked", len(asked), len(fleet))
	}
	before := len(c.ann.notes)
	c.advance(16 * patience)
	if n := len(c.ann.notes) - before; n > 6 {
		t.Errorf("it asks %d times more", n)
	}
}

// The holder of another token, which this member guards, answers a question of it. That is a heartbeat like any other:
// the guardian's patience begins again.
func TestAnAnswerOfAnotherTokensHolderIsItsHeartbeat(t *testing.T) {
	ann := guardian.New(guardian.Config{Gate: gate, Self: annsID, Patience: patience, Entropy: rand.NewPCG(1, 1)})
	held, other := born(10, 5, bobsID), born(20, 5, annsID)
	var end guardian.Outcome
	heartbeat := wire.Message{
		Gate: gate, Kind: guardian.KindHeartbeat, From: bobsID, To: annsID, Nonce: 1,
		Token: other.Ref, Load: other.Load,
	}
	ann.Receive(0, &heartbeat, &held, &end, nil)
	asked := policy.Time(patience / 2)
	out := ann.Probe(asked, &held, nil)
	heartbeat.Nonce, heartbeat.Exchange = 2, out[len(out)-1].Msg.Exchange
	answered := asked.Add(patience / 8)
	ann.Wake(answered, &held, &end, nil)
	ann.AskOthers([]wire.MemberID{annsID, bobsID, dansID}, &held, nil)
	if ann.Receive(answered, &heartbeat, &held, &end, nil); end.Ending != guardian.Answered {
		t.Fatalf("the question ends with %v", end.Ending)
	}
	for _, e := range ann.Wake(answered.Add(patience-1), &held, &end, nil) {
		if e.Kind == policy.Tell && e.Note == guardian.NoteSuspected {
			t.Error("it suspects the holder of the other token, which it has heard within a patience")
		}
	}
}
