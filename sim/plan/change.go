package plan

import (
	"fmt"
	"sort"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Change is the smallest change of one parameter that makes a request possible, with all others unchanged.
type Change struct {
	// Parameter is walk, slots, members, op, every or skip.
	Parameter string `json:"parameter"`
	// From is the present value and To the needed one, both as on the command line. Value is To in seconds, slots or
	// members; it is 0 for a walk.
	From  string  `json:"from"`
	To    string  `json:"to"`
	Value float64 `json:"value,omitempty"`
	// demand describes the change in words.
	demand string
}

func (c Change) String() string { return fmt.Sprintf("%s: %s instead of %s", c.demand, c.To, c.From) }

// changes returns the changes that make an impossible request possible; each is enough alone. A recommended skip is not
// changed: it already is as short as is sensible.
func changes(w *Request, skip time.Duration) []Change {
	var all []Change
	number := func(ok bool, parameter, demand string, from, to int) {
		if ok {
			all = append(all, Change{parameter, fmt.Sprint(from), fmt.Sprint(to), float64(to), demand})
		}
	}
	span := func(parameter, demand string, from, to time.Duration) {
		if to > 0 && to <= longest {
			all = append(all, Change{parameter, written(from), written(to), to.Seconds(), demand})
		}
	}
	// fits reports whether the request is possible with a change.
	fits := func(change func(*Request)) bool {
		changed := *w
		change(&changed)
		return feasible(&changed, skip)
	}
	if w.Walk != wander.Sweep && fits(func(c *Request) { c.Walk = wander.Sweep }) {
		all = append(all, Change{"walk", w.Walk.String(), wander.Sweep.String(), 0, "another walk"})
	}
	slots, most := w.slots()+1, min(wire.MaxSlots, w.Members)
	for slots <= most && !fits(func(c *Request) { c.Slots, c.SlotsShare = slots, 0 }) {
		slots++
	}
	number(slots <= most, "slots", "more slots", w.slots(), slots)
	// The greatest number of members that fits: one more is too many.
	members := sort.Search(w.Members, func(n int) bool {
		return n > 0 && !fits(func(c *Request) { c.Members = n + 1 })
	})
	number(members >= max(minMembers, w.slots()), "members", "fewer members", w.Members, members)
	span("op", "a shorter op", w.Op, roundDown(last(w.Op, func(op time.Duration) bool {
		return fits(func(c *Request) { c.Op = op })
	})))
	span("every", "a longer every", w.Every, roundUp(1+last(longest, func(every time.Duration) bool {
		return !fits(func(c *Request) { c.Every = every })
	})))
	if w.Skip > 0 {
		span("skip", "a shorter skip", w.Skip,
			roundDown(last(skip, func(shorter time.Duration) bool { return feasible(w, shorter) })))
	}
	return all
}

// last returns the longest duration up to limit for which holds is true. If holds is true for a duration, it must be
// true for all shorter ones.
func last(limit time.Duration, holds func(time.Duration) bool) time.Duration {
	return time.Duration(sort.Search(int(limit), func(i int) bool { return !holds(time.Duration(i + 1)) }))
}
