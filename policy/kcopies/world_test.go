package kcopies_test

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/proof"
	"github.com/wanderd/wanderd/wire"
)

// ring is what all members of a world have in common.
type ring struct {
	n, k    int
	configs []kcopies.Config
	// views are the detector's views, by the set of the suspected sites.
	views [][]wire.MemberID
	// forgets is true if old messages are never delivered: what is known to change nothing need not be explored.
	forgets bool
}

func newRing(n, k int) *ring {
	r := &ring{n: n, k: k, configs: make([]kcopies.Config, n), views: make([][]wire.MemberID, 1<<n)}
	members := ringOf(n)
	for i := range r.configs {
		r.configs[i] = kcopies.Config{Ring: members, Self: kcopies.Site(i), K: k, ID: theToken}
	}
	for suspected := range r.views {
		r.views[suspected] = make([]wire.MemberID, 0, n)
		for i, id := range members {
			if suspected>>i&1 == 0 {
				r.views[suspected] = append(r.views[suspected], id)
			}
		}
	}
	return r
}

// maxSites is the most members of a world.
const maxSites = 12

// world is a ring in one state. It is a value: to branch is to copy it, except that the slice of messages is cloned.
type world struct {
	*ring
	sites [maxSites]kcopies.Machine
	// crashed has a bit for each site that has crashed; suspected is what each site has been told.
	crashed   uint16
	suspected [maxSites]uint16
	// pending are the messages to living sites, in an order that does not depend on the path.
	pending []wire.Message
	proof   proof.Proof
	// regenerated counts how often the token was made from a copy.
	regenerated int
}

func (r *ring) begin() world {
	w := world{ring: r, proof: proof.New(&r.configs[0], 0)}
	for i := range r.configs {
		w.sites[i] = kcopies.New(&r.configs[i], 0, kcopies.Data{})
	}
	return w
}

func (w *world) up(i int) bool { return w.crashed>>i&1 == 0 }

// holder returns the living site with the REAL token.
func (w *world) holder() (int, bool) {
	for i := range w.n {
		if w.up(i) && w.sites[i].Token() == kcopies.Real {
			return i, true
		}
	}
	return 0, false
}

func siteAt(id wire.MemberID) int { return int(id[15]) - 1 }

// send lets the holder pass the token on. Only the given number of its messages leave before it crashes; all, if that
// number is negative.
func (w *world) send(i, only int) error {
	out := w.sites[i].SafeSendToken(&kcopies.Data{}, nil)
	for e := range out {
		if out[e].Kind == policy.Send {
			if only == 0 {
				w.crash(i)
				break
			}
			only--
			w.pending = append(w.pending, out[e].Msg)
		}
	}
	return w.settle()
}

// deliver delivers one pending message.
func (w *world) deliver(at int) error {
	m := w.pending[at]
	w.pending = slices.Delete(slices.Clone(w.pending), at, at+1)
	var end kcopies.Outcome
	i := siteAt(m.To)
	before := w.sites[i]
	w.sites[i].Receive(&m, &end, nil)
	if !before.Expects(&m) && (end.Ending != kcopies.Pending || before.String() != w.sites[i].String()) {
		return fmt.Errorf("S%d did not expect %v, and does something", i, m.Token.Seq)
	}
	return w.came(i, before.Token() == kcopies.Real, &end)
}

// suspect tells one site of one crash.
func (w *world) suspect(i, j int) error {
	w.suspected[i] |= 1 << j
	held := w.sites[i].Token() == kcopies.Real
	var end kcopies.Outcome
	w.sites[i].Suspect(w.views[w.suspected[i]], &end, nil)
	return w.came(i, held, &end)
}

// came does what an owner does that never asks whether it may. held is whether it held the token before.
func (w *world) came(i int, held bool, end *kcopies.Outcome) error {
	if end.Ending == kcopies.MayRegenerate {
		w.sites[i].UseBackup(0, end, nil)
		if end.Ending != kcopies.Regenerated {
			return fmt.Errorf("S%d may regenerate the token, and cannot", i)
		}
		w.regenerated++
	}
	if end.Ending != kcopies.Pending && held {
		return fmt.Errorf("the token is delivered to S%d, which holds it", i)
	}
	return w.settle()
}

func (w *world) crash(i int) { w.crashed |= 1 << i }

// settle checks the proof and drops the messages that no site will receive.
func (w *world) settle() error {
	var sites [maxSites]*kcopies.Machine
	for i := range w.n {
		if w.up(i) {
			sites[i] = &w.sites[i]
		}
	}
	pending := make([]proof.Pending, len(w.pending))
	for i := range w.pending {
		pending[i] = proof.PendingOf(&w.pending[i], kcopies.Site(siteAt(w.pending[i].To)))
	}
	if err := w.proof.Check(sites[:w.n], pending); err != nil {
		return err
	}
	w.pending = slices.DeleteFunc(slices.Clone(w.pending), func(m wire.Message) bool {
		i := siteAt(m.To)
		return !w.up(i) || w.forgets && m.Token.Seq <= w.sites[i].Count()
	})
	slices.SortFunc(w.pending, func(a, b wire.Message) int {
		if c := a.To.Compare(b.To); c != 0 {
			return c
		}
		return int(a.Token.Seq) - int(b.Token.Seq)
	})
	return nil
}

// lost reports whether no site has the token, although nothing is under way and no site has yet to be told of a crash.
func (w *world) lost() bool {
	_, held := w.holder()
	return !held
}

// quiet reports whether nothing is under way, and every site knows of every crash.
func (w *world) quiet() bool {
	for i := range w.n {
		if w.up(i) && w.suspected[i] != w.crashed {
			return false
		}
	}
	return len(w.pending) == 0
}

// calm delivers everything and tells every site of every crash.
func (w *world) calm() error {
	for len(w.pending) > 0 {
		if err := w.deliver(0); err != nil {
			return err
		}
	}
	for i := range w.n {
		for j := range w.n {
			if w.up(i) && !w.up(j) && w.suspected[i]>>j&1 == 0 {
				if err := w.suspect(i, j); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// row is how many crashed sites there are in a row, round the ring.
func (w *world) row() int {
	longest, row := 0, 0
	for i := range 2 * w.n {
		if w.up(i % w.n) {
			row = 0
			continue
		}
		row++
		longest = max(longest, min(row, w.n))
	}
	return longest
}

func (w *world) dead() int { return bits.OnesCount16(w.crashed) }

// actionKind is what can happen.
type actionKind uint8

const (
	sends actionKind = iota
	delivers
	crashes
	suspects
)

// action is one thing that can happen: to site i, or to message i. other is the site that is suspected, or how many
// messages a holder sends before it crashes.
type action struct {
	kind     actionKind
	i, other int
}

func (a action) String() string {
	switch a.kind {
	case sends:
		return fmt.Sprintf("S_%d passes the token on, and crashes after %d messages (-1: does not)", a.i, a.other)
	case delivers:
		return fmt.Sprintf("message %d arrives", a.i)
	case crashes:
		return fmt.Sprintf("S_%d crashes", a.i)
	case suspects:
		return fmt.Sprintf("S_%d is told that S_%d has crashed", a.i, a.other)
	}
	return ""
}

func (a action) do(w *world) error {
	switch a.kind {
	case sends:
		return w.send(a.i, a.other)
	case delivers:
		return w.deliver(a.i)
	case crashes:
		w.crash(a.i)
		return w.settle()
	case suspects:
		return w.suspect(a.i, a.other)
	}
	return nil
}

// possible lists everything that can happen: with or without more hops and more crashes.
func (w *world) possible(hop, crash bool) (all []action) {
	if i, ok := w.holder(); ok && hop {
		all = append(all, action{sends, i, -1})
		for only := 0; crash && only <= w.k; only++ {
			all = append(all, action{sends, i, only})
		}
	}
	for at := range w.pending {
		all = append(all, action{delivers, at, 0})
	}
	for i := range w.n {
		if !w.up(i) {
			continue
		}
		if crash {
			all = append(all, action{crashes, i, 0})
		}
		for j := range w.n {
			if !w.up(j) && w.suspected[i]>>j&1 == 0 {
				all = append(all, action{suspects, i, j})
			}
		}
	}
	return all
}
