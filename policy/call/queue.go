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
	// called is when it called last. It is told of, by a home, if it has not called here. A home vouches for it if that
	// has told of it, called or not.
	called        policy.Time
	told, vouched bool
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
	done [8]served
	// given is the wait for which the token was offered last; zero if that offer has failed.
	given served
	// vain are the last waits for which a token of several was given in vain.
	vain [4]inVain
	// sentOn are the last waits of homes that were sent after the token.
	sentOn [2]served
	// doneNext, vainNext and sentOnNext are where the next one is noted.
	doneNext, vainNext, sentOnNext uint8
	turns                          turns
	// sweepAt is when silent waiters are looked for.
	sweepAt policy.Time
}

// inVain is a wait for which a token has come in vain: another one has served it, or is about to. Homes that have not
// heard of that yet still tell of the wait. It does not count before until.
type inVain struct {
	served
	until policy.Time
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
			w.called, w.vouched = max(w.called, old.called), w.vouched || old.vouched
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

// hasOther reports whether anybody waits but one member.
func (q *queue) hasOther(than wire.MemberID) bool {
	return len(q.list) > 1 || len(q.list) == 1 && q.list[0].id != than
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

// sendsOn notes that a wait was sent after the token.
func (q *queue) sendsOn(s served) {
	q.sentOn[q.sentOnNext] = s
	q.sentOnNext = (q.sentOnNext + 1) % uint8(len(q.sentOn))
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
// also if it is told again by a home that hears nothing of that member: two members would pass the token to and fro. Of
// several tokens another one may serve it, so there it does not count for a patience.
func (q *queue) took(id wire.MemberID, cfg *Config, now policy.Time) {
	switch s := q.given; {
	case s.wait == 0 || s.hint != id.Hint():
	case cfg.slots() == 1:
		q.serve(s)
	default:
		q.vain[q.vainNext] = inVain{s, now.Add(cfg.patience())}
		q.vainNext = (q.vainNext + 1) % uint8(len(q.vain))
		q.forget(s)
	}
}

// noteTook notes that a member has had the token that it was given, if what shows that is about that token, and not
// about another one, or an earlier visit of this one.
func (m *Machine) noteTook(now policy.Time, by wire.MemberID, shown *wire.Ref) bool {
	given := &m.custody.token
	if given.ID != shown.ID || shown.Seq <= given.Seq {
		return false
	}
	m.queue.took(by, &m.cfg, now)
	return true
}

// isVain reports whether a wait does not count now.
func (q *queue) isVain(s served, now policy.Time) bool {
	return slices.ContainsFunc(q.vain[:], func(v inVain) bool { return v.served == s && now < v.until })
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

// lateness says who comes after whom, whatever their age.
type lateness uint8

const (
	inTime lateness = iota
	// unvouched: no home has told of it, and after an offer that has failed that counts. Callers that hear nothing call
	// many members. A home knows by then which of them do not answer, and the holder need not find out for each.
	unvouched
	silent
)

func (q *queue) lateness(w *waiter, v *view, now policy.Time, isHome bool) lateness {
	switch {
	case q.turns.last && v.avoid.Has(w.id, now) || q.turns.isLast(w.id.Hint()):
		return silent
	case q.turns.last && !w.vouched && !isHome:
		return unvouched
	}
	return inTime
}

// oldest returns the member that has waited longest, except one, and whether it is late. Those that have not answered
// an offer before take turns. After an offer that has failed they come last, and so do those that have not answered
// otherwise: before that, an answer may be late, and where runs are shorter than its way, it always is.
func (q *queue) oldest(v *view, now policy.Time, except wire.MemberID, isHome bool) (first *waiter, late lateness) {
	var turn int
	for i := range q.list {
		w := &q.list[i]
		if w.id == except {
			continue
		}
		at, its := q.turns.place(w.id.Hint()), q.lateness(w, v, now, isHome)
		if first == nil || its < late || its == late && 0 <= at && at < turn {
			first, late, turn = w, its, at
		}
		if late == inTime && turn < 0 {
			break
		}
	}
	return first, late
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

// choice are the places in a queue of the waiters that another member is told of: the first n of them.
type choice struct {
	places [mostTold]int32
	n      int
}

func (c *choice) add(place int) {
	if c.n < mostTold {
		c.places[c.n] = int32(place)
		c.n++
	}
}

// choose returns the oldest waiters but one. Of those that are known not to answer only one is among them, the one
// whose turn it is: a holder that has not met them would offer the token to all of them, one by one.
func (q *queue) choose(except wire.MemberID) (c choice) {
	silent, turn := -1, 0
	for i := range q.list {
		w := &q.list[i]
		switch at := q.turns.place(w.id.Hint()); {
		case w.id == except:
		case at < 0:
			c.add(i)
		case silent < 0 || at < turn:
			silent, turn = i, at
		}
		if c.n == mostTold && len(q.turns.hints) == 0 {
			return c
		}
	}
	if silent >= 0 {
		c.n = min(c.n, mostTold-1)
		c.add(silent)
	}
	return c
}

// tell writes them into a load.
func (q *queue) tell(now policy.Time, c *choice, l *wire.Load) {
	for n, place := range c.places[:c.n] {
		w := &q.list[place]
		setTold(l, n, told{w.id.Hint(), now.Sub(w.since), w.wait})
	}
}

// mark notes that a member is told of these waiters, for that visit of the token.
func (q *queue) mark(c *choice, visit wire.Seq) {
	for _, place := range c.places[:c.n] {
		q.list[place].visit = visit
	}
}

// isTold reports whether it has been told of all these.
func (q *queue) isTold(c *choice, visit wire.Seq) bool {
	for _, place := range c.places[:c.n] {
		if q.list[place].visit != visit {
			return false
		}
	}
	return true
}

// drop forgets them.
func (q *queue) drop(c *choice) {
	places := c.places[:c.n]
	slices.Sort(places)
	for _, place := range slices.Backward(places) {
		q.list = slices.Delete(q.list, int(place), int(place)+1)
	}
}
