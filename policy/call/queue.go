package call

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// mostWaiters is how many waiters a member keeps. Whoever finds no place is answered like the others, and calls again.
const mostWaiters = 4096

// pauses is how many pauses a waiter may be silent.
const pauses = 3

// waiter is a member that waits for the token.
type waiter struct {
	id    wire.MemberID
	wait  waitID
	since policy.Time
	// called is when it called last. It is told of, by a home, if it has not called here.
	called policy.Time
	told   bool
	// visit is the number of the token for which its holder was told of this waiter; or, if it is here, the next home.
	visit wire.Seq
}

// queue are the members that wait, as a home or a holder knows them.
//
// R5 The queue "is ordered by age. A wait has an identity. […] A home forgets a waiter that has not called for three
// pauses, left the view, or did not answer an offer. It keeps its queue while it holds the token."
type queue struct {
	list []waiter
	// done are the last waits that were served: a late Call of one is ignored.
	done     [8]served
	doneNext uint8
	// given is the wait for which the token was offered last; zero if that offer has failed.
	given served
	turns turns
	// sweepAt is when silent waiters are looked for.
	sweepAt policy.Time
}

func (q *queue) len() int { return len(q.list) }

// isDone reports whether a wait has been served.
func (q *queue) isDone(id wire.MemberID, wait waitID) bool {
	return slices.Contains(q.done[:], served{id.Hint(), wait})
}

// add puts a waiter into the queue, or notes that it still waits.
func (q *queue) add(w waiter) {
	if i := q.find(w.id); i >= 0 {
		old := q.list[i]
		if old.wait == w.wait {
			w.since, w.told = min(w.since, old.since), w.told && old.told
			w.called = max(w.called, old.called)
		} else if w.told && !old.told {
			return // It called here itself, and knows better.
		}
		w.visit = old.visit // Else two that know different waits of a member would tell each other for ever.
		q.list = slices.Delete(q.list, i, i+1)
	}
	at := len(q.list)
	for at > 0 && q.list[at-1].since > w.since {
		at--
	}
	if len(q.list) == mostWaiters {
		if at == mostWaiters {
			return
		}
		q.list = q.list[:mostWaiters-1]
	}
	q.list = slices.Insert(q.list, at, w)
}

func (q *queue) find(id wire.MemberID) int {
	for i := range q.list {
		if q.list[i].id == id {
			return i
		}
	}
	return -1
}

// callsAgain reports whether a call is of a wait that called here before that time already.
func (q *queue) callsAgain(call *wire.Message, before policy.Time) bool {
	i := q.find(call.From)
	return i >= 0 && !q.list[i].told && q.list[i].wait == waitOf(call.Exchange) && q.list[i].called < before
}

// remove forgets a member.
func (q *queue) remove(id wire.MemberID) {
	if i := q.find(id); i >= 0 {
		q.list = slices.Delete(q.list, i, i+1)
	}
}

// serve removes a wait that a visit of the token serves: "a Heartbeat names the wait that its visit serves: it is
// removed, and a late Call of it ignored". It reports whether that is new.
func (q *queue) serve(s served) bool {
	if s.wait == 0 || slices.Contains(q.done[:], s) {
		return false
	}
	q.done[q.doneNext] = s
	q.doneNext = (q.doneNext + 1) % uint8(len(q.done))
	q.list = slices.DeleteFunc(q.list, func(w waiter) bool { return w.id.Hint() == s.hint && w.wait == s.wait })
	return true
}

// gives notes that a member is offered the token for its wait, if it is known.
func (q *queue) gives(to wire.MemberID) {
	q.given = served{}
	if i := q.find(to); i >= 0 {
		q.given = served{to.Hint(), q.list[i].wait}
	}
}

// took notes that a member has had the token that it was given.
//
// R7: "a wait that its visit did not serve gets a new identity". So the wait for which the token was given is over,
// also if it is told again by a home that hears nothing of that member: two members would pass the token to and fro.
func (q *queue) took(id wire.MemberID) {
	if q.given.hint == id.Hint() {
		q.serve(q.given)
	}
}

// keep forgets the waiters that have left the view.
func (q *queue) keep(v *view) {
	q.list = slices.DeleteFunc(q.list, func(w waiter) bool { return !v.Has(w.id) })
}

// dropTold forgets the waiters that only homes know: the homes tell the next holder.
func (q *queue) dropTold() { q.list = slices.DeleteFunc(q.list, func(w waiter) bool { return w.told }) }

// sweep forgets waiters that have been silent for too long. It does so at the time that was named, and names the next.
func (q *queue) sweep(now policy.Time, pause time.Duration) {
	q.sweepAt = now.Add(pause)
	q.list = slices.DeleteFunc(q.list, func(w waiter) bool {
		return !w.told && now >= w.called.Add(policy.Times(pauses, pause))
	})
}

// sweepsAt is when sweep must be called.
func (q *queue) sweepsAt() policy.Time {
	if len(q.list) == 0 {
		return policy.Never
	}
	return q.sweepAt
}

// oldest returns the member that has waited longest, except one. Members that do not answer come last, and those that
// have not answered before take turns.
func (q *queue) oldest(v *view, now policy.Time, except wire.MemberID) (first *waiter) {
	var isLast bool
	var turn int
	for i := range q.list {
		w := &q.list[i]
		if w.id == except {
			continue
		}
		at := q.turns.place(w.id.Hint())
		last := v.avoid.Has(w.id, now) || q.turns.isLast(w.id.Hint())
		if first == nil || isLast && !last || isLast == last && 0 <= at && at < turn {
			first, isLast, turn = w, last, at
		}
		if !isLast && turn < 0 {
			break
		}
	}
	return first
}

// before counts those that wait before a waiter, other than the holder.
func (m *Machine) before(w *waiter, holder wire.MemberID) (n int) {
	for i := range m.queue.list {
		o := &m.queue.list[i]
		if o.id == w.id || o.since > w.since {
			break
		}
		if o.id != holder {
			n++
		}
	}
	if c := &m.caller; m.custody.holds() && c.waits() && c.since <= w.since {
		n++ // The holder comes again by age, and is not in its own queue.
	}
	return min(n, mostWaiters)
}

// tell writes the oldest waiters but one into a load, and returns the first of them; nil if there is none.
func (q *queue) tell(now policy.Time, except wire.MemberID, l *wire.Load) (first *waiter) {
	n := 0
	for i := 0; i < len(q.list) && n < mostTold; i++ {
		w := &q.list[i]
		if w.id == except {
			continue
		}
		if n == 0 {
			first = w
		}
		setTold(l, n, told{w.id.Hint(), now.Sub(w.since), w.wait})
		n++
	}
	return first
}

// mark notes that a member is told of the oldest waiters but itself, for that visit of the token.
func (q *queue) mark(who wire.MemberID, visit wire.Seq) {
	for i, n := 0, 0; i < len(q.list) && n < mostTold; i++ {
		if w := &q.list[i]; w.id != who {
			w.visit, n = visit, n+1
		}
	}
}

// isTold reports whether it has been told of all these.
func (q *queue) isTold(who wire.MemberID, visit wire.Seq) bool {
	for i, n := 0, 0; i < len(q.list) && n < mostTold; i++ {
		if w := &q.list[i]; w.id != who {
			if n++; w.visit != visit {
				return false
			}
		}
	}
	return true
}
