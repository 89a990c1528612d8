package tree

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// "Figure 1 shows an example of a Naimi-Tréhel execution with 4 nodes. Initially (a), site A is the root and holds the
// token. A new configuration of the next queue and the last tree is shown in (b) and (c) after node B and then C have
// requested the token. When A releases the CS, it sends the token to B and sets its next to NIL, as shown in (d)."
// (section 3)
func TestTheQueueOfFigureOne(t *testing.T) {
	s := newSmall(t, 4, nil)
	const a, b, c, d = 0, 1, 2, 3
	for _, site := range []int{b, c, d} {
		s.expect(site, has{last: a, next: nobody, pos: none})
	}
	s.want(a)
	s.want(b)
	s.run(50*time.Millisecond, false)
	s.expect(a, has{last: b, next: b, req: true, pos: 0})
	s.expect(b, has{last: nobody, next: nobody, req: true, pos: 1})
	s.want(c)
	s.run(50*time.Millisecond, false)
	s.expect(a, has{last: c, next: b, req: true, pos: 0})
	s.expect(b, has{last: c, next: c, req: true, pos: 1})
	s.expect(c, has{last: nobody, next: nobody, req: true, pos: 2})
	s.expect(d, has{last: a, next: nobody, pos: none})
	s.finish(a)
	s.run(50*time.Millisecond, false)
	s.expect(a, has{last: c, next: nobody, pos: none})
	if !slices.Equal(s.runs(), []int{a, b}) {
		t.Errorf("the sections are those of %v", s.runs())
	}
}

// queue lets the sites ask one after the other while the first has the section, so that they wait in this order.
func queue(t *testing.T, n int, change func(*Config)) *small {
	t.Helper()
	s := newSmall(t, n, change)
	for i := range n {
		s.want(i)
		s.run(50*time.Millisecond, false)
	}
	return s
}

// Section 4.2: "D eventually detects the failures of C and E when checking the liveness of its two predecessors (lines
// 35-36). D then broadcasts a SEARCH_POS message (line 40) […] D chooses F, which has the greatest position among its
// predecessors to become its closest predecessor, and sends a CONNECTION message to F (line 52). Upon receiving such
// message (lines 57-59), F sets its next to D and sends it a COMMIT message which contains F's position and two of the
// new predecessors of D. Finally, D updates its position in the next queue and the information about its two
// predecessors (Pred[]D = F, I), going on waiting for the token." No request is sent again.
func TestTheReconnectionOfFigureThree(t *testing.T) {
	const i, f, e, c, d, b, a, g = 0, 1, 2, 3, 4, 5, 6, 7
	s := newSmall(t, 8, nil)
	for _, site := range []int{i, f, e, c, d, b, a} {
		s.want(site)
		s.run(50*time.Millisecond, false)
	}
	s.sites[g].last = c
	s.crash(e, c)
	s.sent = nil
	s.run(2*time.Second, false)
	for _, message := range []string{
		"S4 QUESTION S3", "S4 QUESTION S2", "S4 SEARCH_POS S7", "S1 POSITION S4",
		"S0 POSITION S4", "S4 CONNECTION S1", "S1 COMMIT S4",
	} {
		if s.count(s.sent, message) != 1 {
			t.Errorf("%q was sent %d times: %v", message, s.count(s.sent, message), s.sent)
		}
	}
	if s.sites[f].next.rank != d || s.sites[d].pos != 2 || !slices.Equal(s.sites[d].pred[:2], []rank{f, i}) ||
		s.sites[g].last != d {
		t.Errorf("F: %v, D: %v with %v, G: %v", s.sites[f], s.sites[d], s.sites[d].pred[:2], s.sites[g])
	}
	for _, line := range s.sent {
		if slices.Contains([]string{"S4 REQ S0", "S5 REQ S0", "S6 REQ S0"}, line) {
			t.Errorf("a request was sent again: %s", line)
		}
	}
	s.run(time.Second, true)
	if !slices.Equal(s.runs(), []int{i, f, d, b, a}) {
		t.Errorf("the sections are those of %v", s.runs())
	}
}

// Section 4.2, the baseline: "Getting no response either to its CONSULT broadcast or its FAILURE broadcast, D concludes
// that the token is lost. […] it regenerates a new token and broadcasts an ELECTED message […] Both the last tree and
// the next queue will be reinitialized."
func TestTheBaselineReinitialisesAll(t *testing.T) {
	s := queue(t, 5, func(c *Config) { c.Recovery = Baseline })
	s.crash(0, 1)
	s.run(3*time.Second, true)
	order := s.runs()[1:]
	if len(order) != 3 || order[0] != 2 || s.count(s.told, "S2 regenerated") != 1 {
		t.Errorf("the sections are those of %v; %v", order, s.told)
	}
	for _, message := range []string{"S2 CONSULT S4", "S2 FAILURE S4", "S2 ELECTION S4", "S2 ELECTED S4", "S4 REQ S2"} {
		if s.count(s.sent, message) == 0 {
			t.Errorf("%q was not sent", message)
		}
	}
}

// "Individual failure recovery: if Si receives an answer from the token holder Sk, then Si retransmits its request
// directly to Sk. The broken next queue is not rebuilt." (section 3)
func TestTheBaselineAsksALiveHolderDirectly(t *testing.T) {
	s := newSmall(t, 3, func(c *Config) { c.Recovery = Baseline })
	s.lose = func(m *wire.Message) bool {
		return m.Kind == KindRequest && index(m.From) == 2 && s.count(s.sent, "S2 REQ S0") == 1
	}
	s.want(0)
	s.want(2)
	s.run(2*time.Second, false)
	s.finish(0)
	s.run(100*time.Millisecond, true)
	if !slices.Equal(s.runs(), []int{0, 2}) || s.count(s.told, "S2 regenerated") != 0 ||
		s.count(s.sent, "S0 PRESENT S2") != 1 {
		t.Errorf("the sections are those of %v; %v", s.runs(), s.told)
	}
}

// "the complexity of our algorithm is O(log(N))": "We have just added one message per token request" (section 4.3).
func TestACommitIsTheOnlyMessageMoreThanTheOriginals(t *testing.T) {
	fair, baseline := queue(t, 6, nil), queue(t, 6, func(c *Config) { c.Recovery = Baseline })
	commits := 0
	for _, line := range fair.sent {
		if line[3:9] == "COMMIT" {
			commits++
		}
	}
	if commits != 5 || len(fair.sent) != len(baseline.sent)+commits {
		t.Errorf("%d messages, %d of them COMMIT; the original has %d", len(fair.sent), commits, len(baseline.sent))
	}
}

// "If several nodes are concurrent, i.e. they have the same counter value, the winner is the site with the greatest
// identifier. […] Si gives up failure recovery by sending a token request directly to Sj (lines 82-84)." (section 4.1)
func TestOfTwoCandidatesTheGreaterIdentifierWins(t *testing.T) {
	s := newSmall(t, 4, nil)
	s.want(0)
	s.lose = func(m *wire.Message) bool { return m.Kind == KindRequest && s.now == 0 }
	s.want(1, 2)
	s.run(1400*time.Millisecond, false)
	if s.count(s.told, "S1 lost_election") != 1 || s.count(s.told, "S2 lost_election") != 0 ||
		s.count(s.sent, "S1 REQ S2") != 1 {
		t.Errorf("%v", s.told)
	}
	s.finish(0)
	s.run(time.Second, true)
	if !slices.Equal(s.runs(), []int{0, 2, 1}) {
		t.Errorf("the sections are those of %v", s.runs())
	}
}

// "if Si does not receive any answer at all to its SEARCH_POS query, it concludes that all its predecessors have
// crashed and the token is consequently lost. Si then regenerates the token (lines 48-49)." (section 4.1)
func TestASiteWithoutALivePredecessorRegenerates(t *testing.T) {
	s := queue(t, 5, nil)
	s.crash(0, 1)
	s.run(3*time.Second, true)
	if !slices.Equal(s.runs(), []int{0, 2, 3, 4}) || s.count(s.told, "S2 regenerated") != 1 {
		t.Errorf("the sections are those of %v; %v", s.runs(), s.told)
	}
}

// "Failure isolation: By periodically checking the liveness of the closest predecessor, our algorithm may detect a
// fault predecessor node and recover the failure before the token arrives at this predecessor." (section 4.3)
func TestAFailureInTheMiddleOfTheQueueIsIsolated(t *testing.T) {
	s := queue(t, 6, nil)
	s.crash(3)
	s.run(2*time.Second, false)
	s.told = nil
	s.run(time.Second, true)
	if !slices.Equal(s.runs(), []int{1, 2, 4, 5}) || s.count(s.told, "S4 search_pos") != 0 {
		t.Errorf("the sections are those of %v; %v", s.runs(), s.told)
	}
}

// No site asks for anything while no site wants a section.
func TestIdleSitesAreSilent(t *testing.T) {
	s := newSmall(t, 4, nil)
	s.want(2)
	s.run(time.Second, true)
	s.sent = nil
	s.run(time.Hour, true)
	if len(s.sent) > 0 {
		t.Errorf("%v", s.sent)
	}
}

// Rule (i): "a token that came without COMMIT gives one, told to next at once". The COMMIT to S1 is lost, and S1's to
// S2 had no position.
func TestAPositionThatCameWithTheTokenIsToldToNextAtOnce(t *testing.T) {
	s := newSmall(t, 3, nil)
	s.lose = func(m *wire.Message) bool { return m.Kind == KindCommit && index(m.To) == 1 }
	s.want(0, 1)
	s.run(50*time.Millisecond, false)
	s.want(2)
	s.run(50*time.Millisecond, false)
	s.expect(2, has{last: nobody, next: nobody, req: true, pos: none})
	s.finish(0)
	s.run(30*time.Millisecond, false)
	s.expect(2, has{last: nobody, next: nobody, req: true, pos: 2})
}

// Rule (v) and line 34: where a COMMIT with a position was lost, the liveness answer brings it.
func TestALivenessAnswerStandsInForALostCommit(t *testing.T) {
	s := newSmall(t, 3, nil)
	s.want(0)
	s.run(10*time.Millisecond, false)
	s.sites[0].pos = none
	s.want(1)
	s.run(50*time.Millisecond, false)
	s.expect(1, has{last: nobody, next: nobody, req: true, pos: none})
	s.sites[0].pos = 4
	s.run(time.Second+100*time.Millisecond, false)
	s.expect(1, has{last: nobody, next: nobody, req: true, pos: 5})
}

// Rule (vi): "a token for a site that no longer wants it goes on to its next".
func TestATokenForASiteThatNoLongerWantsItGoesOn(t *testing.T) {
	s := queue(t, 3, nil)
	s.step(1, &policy.Event{Kind: policy.Unwanted})
	s.finish(0)
	s.run(50*time.Millisecond, false)
	if !slices.Equal(s.runs(), []int{0, 2}) {
		t.Errorf("the sections are those of %v", s.runs())
	}
}

// Rule (iii): a site that was bypassed searches, although its predecessor is alive.
func TestABypassedSiteSearches(t *testing.T) {
	s := queue(t, 4, nil)
	s.sites[1].next = link{rank: 3, number: 9}
	s.run(1200*time.Millisecond, false)
	if s.count(s.told, "S2 bypassed") != 1 || s.count(s.told, "S2 search_pos") != 1 {
		t.Errorf("%v", s.told)
	}
	s.finish(0)
	s.run(5*time.Second, true)
	if len(s.runs()) != 4 {
		t.Errorf("the sections are those of %v", s.runs())
	}
}

// Each holder takes the position before that of a site that searches. When the time for answers is over, only the last
// of them may still have the token: the first one refuses the site, again and again.
func TestOfHoldersThatTookOnePositionTheLastOneIsFound(t *testing.T) {
	s := queue(t, 4, nil)
	m := s.sites[3]
	m.searchPos(s.now, nil)
	for _, from := range []rank{0, 1, 2} {
		m.receivePOSITION(policy.Instant{Time: s.now}, &body{from: from, pos: m.pos - 1, next: nobody}, nil)
	}
	if m.newPred.id != 2 {
		t.Errorf("it will connect to S%d", m.newPred.id)
	}
}

// A site that wants its section again while it offers the token to the next one waits until that has it.
func TestASiteDoesNotEnterAgainWhileItPassesTheTokenOn(t *testing.T) {
	for _, wants := range []func(s *small){
		func(s *small) { s.want(0); s.finish(0) },
		func(s *small) { s.finish(0); s.want(0) },
	} {
		s := newSmall(t, 3, func(cfg *Config) { cfg.Links = UDP })
		for _, site := range []int{0, 1} {
			s.want(site)
			s.run(10*latency, false)
		}
		wants(s)
		if s.running[0] || !s.sites[0].passing {
			t.Errorf("S0 runs again: %v, and passes the token on: %v", s.running[0], s.sites[0].passing)
		}
		s.run(time.Second, true)
		if order := s.runs(); !slices.Equal(order, []int{0, 1, 0}) {
			t.Errorf("the sections are those of %v", order)
		}
	}
}

// Of two tokens the one with the lower number is discarded, and operators hear of it.
func TestASiteThatGetsASecondTokenTellsThatTheFirstIsOvertaken(t *testing.T) {
	s := queue(t, 3, nil)
	second := s.sites[0].token
	second.Seq++
	b := body{from: 1, next: nobody}
	arrives := wire.Message{Gate: 1, Kind: KindToken, From: s.sites[1].cfg.Self, To: s.sites[0].cfg.Self, Token: second}
	b.write(&arrives.Load)
	s.step(0, &policy.Event{Kind: policy.Received, Msg: arrives})
	if s.count(s.told, "S0 overtaken") != 1 || s.sites[0].token != second {
		t.Errorf("it has %v, and tells %v", s.sites[0].token, s.told)
	}
}

// Rule (ii) where two sites have the same position: the lower rank is before the other, for a COMMIT as for a search.
// Neither position changes, or the later site would come behind its own next.
func TestOfTwoSitesWithOnePositionTheLowerRankIsBeforeTheOther(t *testing.T) {
	const pos = 7
	commits := func(from, to int) *small {
		s := queue(t, 4, nil)
		for _, site := range []int{1, 2} {
			s.sites[site].pos = pos
			s.sites[site].forgetPredecessors()
		}
		s.sites[from].next = link{rank(to), s.sites[to].number}
		s.mail, s.sent = nil, nil
		for _, e := range s.sites[from].sendCommit(nil) {
			s.mail = append(s.mail, letter{s.now, e.Msg})
		}
		s.run(latency, false)
		return s
	}
	s := commits(1, 2)
	if m := s.sites[2]; m.pred[0] != 1 || m.pos != pos || s.count(s.sent, "S2 REFUSE S1") != 0 {
		t.Errorf("S2 has the predecessor S%d and position %d; sent: %v", m.pred[0], m.pos, s.sent)
	}
	s = commits(2, 1)
	if m := s.sites[1]; m.pred[0] == 2 || m.pos != pos || s.count(s.sent, "S1 REFUSE S2") != 1 {
		t.Errorf("S1 has the predecessor S%d and position %d; sent: %v", m.pred[0], m.pos, s.sent)
	}
}

// Rule (vii): the token is under way from S0 to S1 while S2 searches; no site has a position, and no token is
// regenerated.
func TestATokenUnderWayAnswersASearchWhenItArrives(t *testing.T) {
	s := newSmall(t, 3, nil)
	s.want(1)
	s.run(10*time.Millisecond, false)
	s.sites[2].last = nobody
	s.want(2)
	if s.count(s.told, "S2 search_queue") != 1 {
		t.Fatalf("%v", s.told)
	}
	s.run(400*time.Millisecond, false)
	if s.count(s.told, "S2 regenerated") != 0 || s.count(s.sent, "S1 POSITION S2") == 0 {
		t.Errorf("%v; %v", s.told, s.sent)
	}
}

// The seam "may I regenerate?": with AsksFirst a site makes no token by itself, and a token that it is told to make has
// the number that it is told.
func TestAGateThatIsAskedFirstDecides(t *testing.T) {
	s := queue(t, 3, func(c *Config) { c.AsksFirst = true })
	s.crash(0, 1)
	s.run(3*time.Second, false)
	m := s.sites[2]
	if !m.AsksToRegenerate() || m.holds {
		t.Fatalf("%s: it asks: %v", m, m.AsksToRegenerate())
	}
	out := m.Regenerate(policy.Instant{Time: s.now}, &wire.Ref{Seq: 77}, nil)
	if m.AsksToRegenerate() || !m.running || m.token.Seq != 77 || out[len(out)-1].Kind != policy.Run {
		t.Errorf("%s with %+v", m, m.token)
	}
}

// A graceful end passes the token on to the sites that wait, or to any site.
func TestAMemberThatLeavesPassesTheTokenOn(t *testing.T) {
	s := newSmall(t, 3, nil)
	roster := ids(3)
	s.step(0, &policy.Event{Kind: policy.PeersChanged, Peers: roster})
	s.step(0, &policy.Event{Kind: policy.Leave})
	s.run(50*time.Millisecond, true)
	if s.count(s.told, "S0 left") != 1 || !s.sites[1].idle() {
		t.Errorf("%v; %s", s.told, s.sites[1])
	}
}

// A site that has passed the token on neither runs nor asks, whatever it shows.
func TestASiteThatHasPassedTheTokenOnNeitherRunsNorAsks(t *testing.T) {
	s := queue(t, 2, nil)
	for i, runs := range []bool{true, false} {
		if is, p := s.sites[i].phase() == "running", s.sites[i].Place(); is != runs || p.Asks == runs {
			t.Errorf("S%d runs: %v, %+v", i, is, p)
		}
	}
	s.finish(0)
	s.run(50*time.Millisecond, false)
	if phase, p := s.sites[0].phase(), s.sites[0].Place(); phase != "idle" || p.Asks || p.Waits {
		t.Errorf("S0 is %s, %+v", phase, p)
	}
}
