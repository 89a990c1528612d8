package sim

import (
	"math"

	"github.com/wanderd/wanderd/policy"
)

// alarm is the moment at which a member's machine wants to be woken.
type alarm struct {
	key
	who int32
}

// alarms is the members' timers: "the shell owns exactly one timer" for each machine, so each member has at most one
// place in this heap. When a deadline changes, its entry moves; however often that happens, the heap has no stale
// entries.
type alarms struct {
	heap []alarm
	// place is the index of each member in heap; absent if the member has no alarm.
	place []int32
}

const absent = -1

func newAlarms(members int) alarms {
	a := alarms{heap: make([]alarm, 0, members), place: make([]int32, members)}
	for i := range a.place {
		a.place[i] = absent
	}
	return a
}

// isAt reports whether who's alarm is at that time already. If so, it is not set again and keeps its turn.
func (a *alarms) isAt(who int32, at policy.Time) bool {
	i := a.place[who]
	return i != absent && a.heap[i].at == at
}

func (a *alarms) set(who int32, k key) {
	i := int(a.place[who])
	switch {
	case i == absent:
		a.heap = append(a.heap, alarm{})
		a.up(len(a.heap)-1, alarm{key: k, who: who})
	case k.before(a.heap[i].key):
		a.up(i, alarm{key: k, who: who})
	default:
		a.down(i, alarm{key: k, who: who})
	}
}

// goOff ends the first alarm, which goes off. It keeps its place for this member's next one.
func (a *alarms) goOff() { a.heap[0].at = math.MinInt64 }

func (a *alarms) clear(who int32) {
	i := int(a.place[who])
	if i == absent {
		return
	}
	a.place[who] = absent
	last := a.heap[len(a.heap)-1]
	a.heap = a.heap[:len(a.heap)-1]
	switch {
	case i == len(a.heap):
	case i > 0 && last.before(a.heap[(i-1)/arity].key):
		a.up(i, last)
	default:
		a.down(i, last)
	}
}

// up puts x at place i or above; whatever is at i is overwritten.
func (a *alarms) up(i int, x alarm) {
	for i > 0 {
		parent := (i - 1) / arity
		if !x.before(a.heap[parent].key) {
			break
		}
		a.put(i, a.heap[parent])
		i = parent
	}
	a.put(i, x)
}

// down puts x at place i or below; whatever is at i is overwritten.
func (a *alarms) down(i int, x alarm) {
	for {
		child := i*arity + 1
		if child >= len(a.heap) {
			break
		}
		best := child
		for j := child + 1; j < min(child+arity, len(a.heap)); j++ {
			if a.heap[j].before(a.heap[best].key) {
				best = j
			}
		}
		if !a.heap[best].before(x.key) {
			break
		}
		a.put(i, a.heap[best])
		i = best
	}
	a.put(i, x)
}

func (a *alarms) put(i int, x alarm) {
	a.heap[i] = x
	a.place[x.who] = int32(i)
}
