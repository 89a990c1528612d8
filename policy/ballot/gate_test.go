package ballot_test

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
)

// gate is a protocol that contains a ballot.
type gate interface {
	policy.Machine
	Ballot() *ballot.Machine
	Leaving() bool
}

// gateKind is the kind of a gate.
type gateKind uint8

const (
	lock gateKind = iota
	tree
	always
	martin
	q
	d
	// paced is a gate of one of these kinds, except the lock, whose members have an operation of their own.
	paced
)

func gateKinds() []string { return []string{"lock", "tree", "always", "martin", "q", "d", "paced"} }

func gateKindOf(name string) gateKind { return gateKind(slices.Index(gateKinds(), name)) }

func (w *world) settings(i int) strict.Settings {
	s := strict.Settings{
		Moves: strict.Tree, Roster: &w.roster, Lease: w.leaseOf(i), KillAfter: w.p.killAfter, Margin: w.p.margin,
		Rho: w.rhoOf(i), Patience: w.p.patienceOf(i), Keep: w.keepOf(i), Soak: w.p.soak,
		Backups: max(w.p.members-2, 0),
	}
	moves := w.p.kind
	if w.p.kind == paced {
		moves = w.p.moves
		s.MinInterval, s.RetryAfter, s.Windows = w.p.minInterval, w.p.retryAfter, w.p.windows
		s.Once = w.p.once
	}
	if moves >= always {
		s.Moves, s.Request = strict.Ring, ring.Requests()[moves-always]
	}
	return s
}

func (w *world) newGate(i int) gate {
	if w.p.kind == lock {
		return policytest.New(w.config(i))
	}
	return strict.New(w.settings(i), policy.Env{
		Gate: 7, Self: w.roster.ID(i), OnDemand: w.p.kind != paced, Entropy: w.entropy,
		Marks: w.shell.marks.Marker(),
	})
}

func (w *world) newDescriptor() policy.Descriptor {
	if w.p.kind == lock {
		return policytest.Settings{}.Descriptor()
	}
	return w.settings(0).Descriptor()
}

// look lets all hosts soon notice which members are there.
func (w *world) look() {
	if w.p.kind == lock {
		return
	}
	for i := range w.hosts {
		w.after(w.around(w.p.patience), evView, i, 0)
	}
}

// see shows a host which members are there: membership that is right, but late.
func (w *world) see(i int) {
	h := &w.hosts[i]
	if !h.up || h.away {
		return
	}
	sees := hostSet(0)
	w.ev.Peers = nil
	for k := range w.hosts {
		if other := &w.hosts[k]; k == i || other.up && !other.away && w.apart[i]&(1<<k) == 0 && w.apart[k]&(1<<i) == 0 {
			sees |= 1 << k
			w.ev.Peers = append(w.ev.Peers, w.roster.ID(k))
		}
	}
	if sees != h.sees {
		h.sees = sees
		w.ev.Kind = policy.PeersChanged
		w.step(i)
	}
}
