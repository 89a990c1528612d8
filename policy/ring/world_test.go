package ring

import (
	"math/rand/v2"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// world is a ring of any size on FIFO links that lose nothing. A test decides what happens, or leaves it to chance.
type world struct {
	t        *testing.T
	request  Request
	machines []*Machine
	members  []wire.MemberID
	// links has what is on the way from a member: to next, and against the token's direction to prev.
	links [2][][]wire.Message
	now   policy.Instant
	// asks, moves and requests count what has happened: demands, and messages that have arrived.
	asks, moves, requests int
	// since is how many messages had arrived when a member asked; service is the largest number that arrived from then
	// until the token came.
	since   []int
	service int
	// runs is how often each member was in its critical section; tokens is how many tokens members hold.
	runs    []int
	tokens  int
	effects []policy.Effect
}

const (
	clockwise = iota
	counterclockwise
)

// newWorld is a clean start: the token rests at member 0.
func newWorld(t *testing.T, request Request, n int) *world {
	w := &world{t: t, request: request, members: rosterOf(n), since: make([]int, n), runs: make([]int, n)}
	w.links = [2][][]wire.Message{make([][]wire.Message, n), make([][]wire.Message, n)}
	for i := range n {
		w.machines = append(w.machines, New(configOf(request, w.members, i)))
	}
	for i := range n {
		w.step(i, &policy.Event{Kind: policy.Started})
	}
	for i := range n {
		w.step(i, &policy.Event{Kind: policy.PeersChanged, Peers: w.members})
	}
	return w
}

func (w *world) messages() int { return w.moves + w.requests }

func (w *world) step(i int, ev *policy.Event) {
	w.t.Helper()
	m := w.machines[i]
	waited := m.pending
	w.effects = m.Step(w.now, ev, w.effects[:0])
	for k := 0; k < len(w.effects); k++ {
		switch e := &w.effects[k]; e.Kind {
		case policy.Save:
			w.effects = m.Step(w.now, &policy.Event{Kind: policy.Saved}, w.effects)
		case policy.Run:
			w.runs[i]++
		case policy.Send:
			to := rankOf(e.Msg.To)
			way := clockwise
			if to != (i+1)%len(w.members) || w.request == Martin && e.Msg.Kind == KindRequest {
				way = counterclockwise
			}
			w.links[way][i] = append(w.links[way][i], e.Msg)
		case policy.Took:
			w.tokens++
		case policy.Gave:
			w.tokens--
		case policy.Extend, policy.Stop, policy.PreSign, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
		}
	}
	if waited && m.holds() {
		w.service = max(w.service, w.messages()-w.since[i])
	}
	if w.tokens > 1 {
		w.t.Fatalf("%d members hold the token", w.tokens)
	}
}

// mayAsk reports whether a member neither waits nor is in its critical section.
func (w *world) mayAsk(i int) bool { return !w.machines[i].wanted && w.machines[i].state != running }

func (w *world) ask(i int) {
	w.t.Helper()
	w.asks++
	w.since[i] = w.messages()
	w.step(i, &policy.Event{Kind: policy.Wanted})
}

// deliver lets the next message from member i to next, or to prev, arrive.
func (w *world) deliver(way, i int) {
	w.t.Helper()
	msg := w.links[way][i][0]
	w.links[way][i] = w.links[way][i][1:]
	if msg.Kind == kcopies.KindToken {
		w.moves++
	} else {
		w.requests++
	}
	w.step(rankOf(msg.To), &policy.Event{Kind: policy.Received, Msg: msg})
}

// finish ends the critical section of member i.
func (w *world) finish(i int) {
	w.t.Helper()
	w.step(i, &policy.Event{Kind: policy.Finished})
}

// settle lets everything possible happen, one after the other, until nothing happens any more.
func (w *world) settle() {
	w.t.Helper()
	for w.round() {
	}
}

// round lets everything possible happen once at each member. It reports whether anything has.
func (w *world) round() (busy bool) {
	w.t.Helper()
	for i, m := range w.machines {
		if m.state == running {
			w.finish(i)
			busy = true
		}
		for way := range w.links {
			for len(w.links[way][i]) > 0 {
				w.deliver(way, i)
				busy = true
			}
		}
	}
	return busy
}

// live lets chance decide what happens next, until members have asked the given number of times. A member that may ask
// does so with probability p when it is its turn.
func (w *world) live(dice *rand.Rand, asks int, p float64) {
	w.t.Helper()
	n := len(w.members)
	for w.asks < asks {
		i := dice.IntN(n)
		way := dice.IntN(2)
		switch {
		case dice.Float64() < p && w.mayAsk(i):
			w.ask(i)
		case len(w.links[way][i]) > 0:
			w.deliver(way, i)
		case w.machines[i].state == running && dice.IntN(2) == 0:
			w.finish(i)
		}
	}
	w.settle()
}
