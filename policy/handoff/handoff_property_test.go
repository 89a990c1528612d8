package handoff_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// world is three members, one token, and an adversary that controls the network and the processes. It keeps all
// messages, and may deliver any of them at any time, any number of times, or never.
type world struct {
	t       *rapid.T
	now     policy.Time
	members [3]*member
	sent    []wire.Message
	// busy is set if a member has an offer in progress.
	busy [3]bool
	// passed counts, for each handoff, how often its sender gave the token up; arrived counts how often the receiver
	// got it.
	passed, arrived map[wire.Exchange]int
	receiving       wire.Exchange
}

var ids = [3]wire.MemberID{{1}, {2}, {3}}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, passed: map[wire.Exchange]int{}, arrived: map[wire.Exchange]int{}}
	for i := range w.members {
		w.members[i] = newMember(string(rune('a'+i)), ids[i], rand.NewPCG(uint64(i), 1))
	}
	w.members[0].holds = true
	return w
}

func (w *world) took(i int, o handoff.Outcome, out []policy.Effect) (sent int) {
	m := w.members[i]
	switch o.Ending {
	case handoff.Pending:
	case handoff.Passed:
		m.holds, w.busy[i] = false, false
		w.passed[w.receiving]++
	case handoff.Failed:
		w.busy[i] = false
		if !m.holds {
			w.t.Fatalf("%s failed to pass a token that it does not hold", m.name)
		}
	case handoff.Arrived:
		m.holds = true
		w.arrived[w.receiving]++
	}
	for k := range out {
		if out[k].Kind == policy.Send {
			sent++
			w.sent = append(w.sent, out[k].Msg)
		}
	}
	return sent
}

// deliver delivers one of all messages so far.
func (w *world) deliver(t *rapid.T) {
	if len(w.sent) == 0 {
		return
	}
	// Mostly one of the newest, because they belong to the handoff in progress.
	oldest := len(w.sent) - 1
	if rapid.IntRange(0, 4).Draw(t, "old") > 0 {
		oldest = min(oldest, 2)
	}
	msg := w.sent[len(w.sent)-1-rapid.IntRange(0, oldest).Draw(t, "age")]
	i := int(msg.To[0]) - 1
	m := w.members[i]
	expected, before := m.h.Expects(&msg), m.h
	w.receiving = msg.Exchange
	var o handoff.Outcome
	out := m.h.Receive(w.now, &msg, &o, nil)
	replies := w.took(i, o, out)

	if replies > 1 {
		t.Fatalf("a %v is answered by %d messages", msg.Kind, replies)
	}
	if msg.Kind == handoff.KindCommit && replies != 0 {
		t.Fatal("a Commit is answered")
	}
	if !expected && (m.h != before || o != handoff.Outcome{} || replies != 0) {
		t.Fatalf("a %v that was not expected changed something", msg.Kind)
	}
}

func (w *world) offer(t *rapid.T) {
	for i, m := range w.members {
		if !m.holds || w.busy[i] {
			continue
		}
		to := (i + rapid.IntRange(1, 2).Draw(t, "to")) % 3
		w.busy[i] = true
		w.took(i, handoff.Outcome{}, m.h.Offer(w.now, &theToken, &wire.Load{}, ids[to], nil))
		return
	}
}

func (w *world) withdraw(t *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(t, "who")
	w.members[i].h.Withdraw()
	w.busy[i] = false
}

func (w *world) abandon(t *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(t, "who")
	w.took(i, handoff.Outcome{}, w.members[i].h.Abandon(nil))
	w.busy[i] = false
}

// advance lets time pass and wakes some of the members, late or not at all: a process may be paused.
func (w *world) advance(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.Int64Range(0, int64(timeout)).Draw(t, "by")))
	for i, m := range w.members {
		if !rapid.Bool().Draw(t, "wake") {
			continue
		}
		var o handoff.Outcome
		out := m.h.Wake(w.now, &o, nil)
		w.took(i, o, out)
		if at, ok := m.h.NextWake(); ok && at <= w.now {
			t.Fatalf("%s was woken at %v and asks for %v", m.name, w.now, at)
		}
	}
}

// crash resets a member, including its token, but not its entropy.
func (w *world) crash(t *rapid.T) {
	i := rapid.IntRange(0, 2).Draw(t, "who")
	w.members[i] = newMember(w.members[i].name, ids[i], rand.NewPCG(uint64(i), uint64(len(w.sent))+2))
	w.busy[i] = false
}

// regain replaces a token that is lost for good: no member holds it, and none waits for a Commit.
func (w *world) regain(*rapid.T) {
	for _, m := range w.members {
		if m.holds || m.h.Receiving() {
			return
		}
	}
	w.members[0].holds, w.busy[0] = true, false
}

// check verifies the handoff property and its basis: a token arrives only after it was given up, and only once.
func (w *world) check(t *rapid.T) {
	holders := 0
	for _, m := range w.members {
		if m.holds {
			holders++
		}
	}
	if holders > 1 {
		t.Fatal("two members hold the token")
	}
	for id, n := range w.passed {
		if n > 1 {
			t.Fatalf("in handoff %x the token was given up %d times", id, n)
		}
	}
	for id, n := range w.arrived {
		if n > w.passed[id] {
			t.Fatalf("in handoff %x the token was given up %d times and arrived %d times", id, w.passed[id], n)
		}
	}
}

// "The token passing protocol ensures the property that, when both partners leave the protocol, at most one holds the
// token" (section 4): here in every state, under loss, duplication, reordering, delay, replay and crash.
func TestAtMostOneHoldsTheToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		actions := map[string]func(*rapid.T){
			"deliver": w.deliver, "offer": w.offer, "regain": w.regain, "advance": w.advance, "withdraw": w.withdraw,
			"abandon": w.abandon, "crash": w.crash,
		}
		often := []string{
			"deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver",
			"offer", "offer", "regain", "advance", "advance", "withdraw", "abandon", "crash",
		}
		for range 300 {
			actions[rapid.SampledFrom(often).Draw(t, "action")](t)
			w.check(t)
		}
	})
}

// If no message is lost and none takes longer than a quarter of the timeout, the token always arrives, in any order of
// messages and with any duplicates.
func TestWithoutLossTheTokenArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pair{
			ann: newMember("ann", annsID, rand.NewPCG(1, 1)),
			bob: newMember("bob", bobsID, rand.NewPCG(2, 2)),
		}
		type flight struct {
			msg wire.Message
			at  policy.Time
		}
		var air []flight
		took := func(m *member, o handoff.Outcome, out []policy.Effect) {
			m.holds = m.holds && o.Ending != handoff.Passed || o.Ending == handoff.Arrived
			for k := range out {
				if out[k].Kind != policy.Send {
					continue
				}
				for range rapid.IntRange(1, 2).Draw(t, "copies") {
					delay := rapid.Int64Range(0, int64(timeout/4)).Draw(t, "delay")
					air = append(air, flight{out[k].Msg, p.now.Add(time.Duration(delay))})
				}
			}
		}
		p.ann.holds = true
		took(p.ann, handoff.Outcome{}, p.ann.h.Offer(p.now, &theToken, &wire.Load{}, bobsID, nil))
		for {
			m, at := p.nextWake()
			next := -1
			for k := range air {
				if (next < 0 && (m == nil || air[k].at <= at)) || (next >= 0 && air[k].at < air[next].at) {
					next = k
				}
			}
			switch {
			case next >= 0:
				f := air[next]
				air = append(air[:next], air[next+1:]...)
				p.now = max(p.now, f.at)
				to := p.ann
				if f.msg.To == bobsID {
					to = p.bob
				}
				var o handoff.Outcome
				out := to.h.Receive(p.now, &f.msg, &o, nil)
				took(to, o, out)
			case m != nil:
				p.now = at
				var o handoff.Outcome
				out := m.h.Wake(p.now, &o, nil)
				took(m, o, out)
			default:
				if !p.bob.holds || p.ann.holds {
					t.Fatal("nothing was lost, and bob does not hold the token")
				}
				return
			}
		}
	})
}
