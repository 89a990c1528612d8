package plan

import (
	"fmt"
	"sort"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Change is the smallest change of one parameter with which a wish can be met, all others as they are.
type Change struct {
	// Parameter is walk, slots, members, op, every or skip.
	Parameter string `json:"parameter"`
	// From and To are what the parameter is and would have to be, as they are written on the command line; Value is To as a
	// number, if it is one: seconds, slots, or members.
	From  string  `json:"from"`
	To    string  `json:"to"`
	Value float64 `json:"value,omitempty"`
}

// String returns the change as a demand.
func (c Change) String() string {
	words := map[string]string{
		"walk":    "another walk: %s instead of %s",
		"slots":   "more slots: %s instead of %s",
		"members": "fewer members: %s instead of %s",
		"op":      "a shorter op: %s instead of %s",
		"every":   "a longer every: %s instead of %s",
		"skip":    "a shorter skip: %s instead of %s",
	}
	return fmt.Sprintf(words[c.Parameter], c.To, c.From)
}

// changes returns what would make a wish that cannot be met one that can. Each of them is enough alone. The skip is left
// alone where it is a recommendation, as that is as short as is sensible.
func changes(w *Wish, skip time.Duration) []Change {
	var all []Change
	ofTime := func(parameter string, from, to time.Duration) {
		if to > 0 && to <= longest {
			all = append(all, Change{Parameter: parameter, From: written(from), To: written(to), Value: to.Seconds()})
		}
	}
	if sweeping := *w; w.Walk != wander.Sweep {
		sweeping.Walk = wander.Sweep
		if feasible(&sweeping, skip) {
			all = append(all, Change{Parameter: "walk", From: w.Walk.String(), To: sweeping.Walk.String()})
		}
	}
	if n := leastSlots(*w, skip); n > 0 {
		all = append(all, Change{Parameter: "slots", From: fmt.Sprint(w.slots()), To: fmt.Sprint(n), Value: float64(n)})
	}
	if n := mostMembers(*w, skip); n >= max(minMembers, w.slots()) {
		all = append(all, Change{
			Parameter: "members", From: fmt.Sprint(w.Members), To: fmt.Sprint(n), Value: float64(n),
		})
	}
	ofTime("op", w.Op, longestOp(*w, skip))
	ofTime("every", w.Every, leastEvery(*w, skip))
	if w.Skip > 0 {
		ofTime("skip", w.Skip, longestSkip(w, skip))
	}
	return all
}

// leastSlots is the least number of slots with which a wish can be met; zero, if there is none.
func leastSlots(w Wish, skip time.Duration) int {
	for w.Slots = w.slots() + 1; w.Slots <= min(wire.MaxSlots, w.Members); w.Slots++ {
		if feasible(&w, skip) {
			return w.Slots
		}
	}
	return 0
}

func mostMembers(w Wish, skip time.Duration) int {
	// The first number of members, of those from one up, with one too many.
	return sort.Search(w.Members, func(n int) bool {
		w.Members = n + 1
		return n > 0 && !feasible(&w, skip)
	})
}

func longestOp(w Wish, skip time.Duration) time.Duration {
	return roundDown(last(w.Op, func(op time.Duration) bool {
		w.Op = op
		return feasible(&w, skip)
	}))
}

func leastEvery(w Wish, skip time.Duration) time.Duration {
	return roundUp(1 + last(longest, func(every time.Duration) bool {
		w.Every = every
		return !feasible(&w, skip)
	}))
}

func longestSkip(w *Wish, skip time.Duration) time.Duration {
	return roundDown(last(skip, func(shorter time.Duration) bool { return feasible(w, shorter) }))
}

// last returns the longest duration up to a limit for which something holds that holds for all shorter ones.
func last(limit time.Duration, holds func(time.Duration) bool) time.Duration {
	return time.Duration(sort.Search(int(limit), func(i int) bool { return !holds(time.Duration(i + 1)) }))
}
