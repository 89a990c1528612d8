package wander

import (
	"math/bits"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander/lap"
	"github.com/wanderd/wanderd/wire"
)

// Walk chooses the next member. The paper's is a random walk. The two others visit every live member once in a lap, in
// an order that every member can compute (a hash of gate, lap and member), so the token carries no list of visited
// members. A lap is N hops; a random walk needs N ln N hops to visit all members.
//
// Members need not agree on the view or on the walk: a member that is missing in one view is skipped by that holder
// only.
type Walk uint8

const (
	// Random is the paper's walk: any other member, all equally likely.
	Random Walk = iota
	// Shuffle uses a new order for each lap: a member waits for at most two laps.
	Shuffle
	// Sweep keeps one order: every member waits for one lap. A member that is due within a lap keeps the token until
	// then.
	Sweep
)

// Walks returns all walks.
func Walks() []Walk { return []Walk{Random, Shuffle, Sweep} }

// String returns the name used in configurations.
func (w Walk) String() string {
	return policy.Name([]string{Random: "random", Shuffle: "shuffle", Sweep: "sweep"}, w)
}

// walker finds the next member. It keeps the view of the members, and which of them are avoided. In a sweep with
// several tokens it knows which part of the members this token visits.
type walker struct {
	peers
	avoid   soft.Avoided
	sharing sharing
	// tries is how many earlier holders could not reach the member to which the token is offered.
	tries uint8
	// cameAt is when the token came that this member holds, or held last.
	cameAt policy.Time
}

// see takes another view, and returns the one before.
func (w *walker) see(ids []wire.MemberID, self wire.MemberID) (before peers) {
	before = w.peers
	w.peers = newPeers(ids, self)
	return before
}

// come records that a token has come.
func (w *walker) come(now policy.Time) { w.cameAt = now }

// next returns the member that gets the token with that load: one that asked for it, one that others could not reach,
// or the next in the walk.
func (w *walker) next(cfg *Config, now policy.Time, load *wire.Load) wire.MemberID {
	if cfg.Walk == Random {
		return w.stray(cfg, now)
	}
	id, ok := w.takeAsker(now)
	if w.tries = 0; !ok {
		id, w.tries, ok = w.takeMissed(cfg, load)
	}
	if !ok {
		id, ok = w.successor(cfg, now, load)
	}
	if !ok {
		route := RouteOf(load)
		route.Lap++
		route.Cursor = 0
		SetRoute(load, &route)
		id, ok = w.successor(cfg, now, load)
	}
	if !ok {
		// All other members are avoided. The new lap was needless, but does no harm.
		return w.stray(cfg, now)
	}
	return id
}

// successor moves the cursor to the next member of this lap that is not avoided. Members that it skips are missed.
func (w *walker) successor(cfg *Config, now policy.Time, load *wire.Load) (wire.MemberID, bool) {
	for {
		id, ok := w.follow(cfg, load)
		if !ok || !w.avoid.Has(id, now) {
			return id, ok
		}
		w.miss(cfg, id, load)
	}
}

// follow moves the cursor to the next other member of this lap.
func (w *walker) follow(cfg *Config, load *wire.Load) (wire.MemberID, bool) {
	r := RouteOf(load)
	var next lap.Place
	var ok bool
	if w.shares(cfg) {
		next, ok = cfg.Laps.AfterIn(cfg.arc(), w.IDs, cfg.order(r.Lap), r.Cursor, w.Rank)
	} else {
		next, ok = cfg.Laps.After(w.IDs, cfg.order(r.Lap), r.Cursor, w.Rank)
	}
	if !ok {
		return wire.MemberID{}, false
	}
	r.Cursor = next.At
	SetRoute(load, &r)
	return w.IDs[next.Index], true
}

// takeMissed removes from the token's list the missed member that has waited longest. It leaves members that are not in
// this member's view, or that this member could not reach itself since the token came, to other holders. A holder that
// is due again and again between two offers would otherwise use up all tries of a member that only others can reach.
func (w *walker) takeMissed(cfg *Config, load *wire.Load) (id wire.MemberID, tries uint8, ok bool) {
	r := RouteOf(load)
	for i, tries := range r.Tries {
		if tries == 0 {
			break
		}
		id, ok := w.ByHint(r.Missed[i])
		if !ok || id == cfg.Self || w.avoid.Has(id, w.cameAt) {
			continue
		}
		r.Take(i)
		SetRoute(load, &r)
		return id, tries, true
	}
	return wire.MemberID{}, 0, false
}

// miss puts a member that this one could not reach onto the token's list: the next holders try it first. Otherwise, of
// two members that can never reach each other, the later one would starve. A member that several holders could not
// reach waits for the next lap. A member that is really gone soon leaves the views.
func (w *walker) miss(cfg *Config, id wire.MemberID, load *wire.Load) {
	if cfg.Walk == Random || w.tries >= MaxTries-1 {
		return
	}
	r := RouteOf(load)
	r.Miss(id.Hint(), w.tries+1)
	SetRoute(load, &r)
}

// stray is a step of the random walk: "instead of introducing an overlay topology we adopt a random walk approach"
// (abstract), here on the full mesh. It is uniform over the other members, without those that failed a handoff
// recently, as long as any are left.
func (w *walker) stray(cfg *Config, now policy.Time) wire.MemberID {
	var room [1 + len(w.avoid)]int
	room[0] = w.Rank
	without := w.avoid.AppendPlaces(room[:1], &w.Peers, now)
	if len(without) == len(w.IDs) {
		without = without[:1]
	}
	slices.Sort(without)
	drawn := cfg.draw(len(w.IDs) - len(without))
	for _, place := range without {
		if drawn >= place {
			drawn++
		}
	}
	return w.IDs[drawn]
}

// chooseGuardians gives the token as many guardians as configured, or as there are members: the previous holders,
// except those that are gone or have failed a handoff recently, and if these are too few, the next members by identity.
// A member that sees no other one keeps the guardians: it may just have been restarted, or be cut off, and does not
// know which ones are gone.
func (w *walker) chooseGuardians(cfg *Config, now policy.Time, token *guardian.Token) {
	t := token.Trail()
	for rank := t.Len() - 1; rank >= 0; rank-- {
		gone := !w.Has(t[rank]) && !w.Alone()
		if rank >= cfg.Backups || t[rank] == cfg.Self || gone || w.avoid.Has(t[rank], now) {
			t.Drop(rank)
		}
	}
	for behind := 1; behind < len(w.IDs) && t.Len() < cfg.Backups; behind++ {
		if id := w.IDs[(w.Rank+behind)%len(w.IDs)]; !w.avoid.Has(id, now) {
			t.Add(id)
		}
	}
	token.SetTrail(&t)
}

// avoidTimeouts is how long a member that failed a handoff is avoided, in handoff timeouts: about as long as membership
// takes to notice a crash. If offers take longer, a member is avoided for as long as offers to all avoided members
// take.
const avoidTimeouts = 16

// shun avoids a member that has failed a handoff; patience is how long an offer takes at most.
func (w *walker) shun(cfg *Config, now policy.Time, id wire.MemberID, patience time.Duration) {
	w.avoid.Add(id, now.Add(max(cfg.timeouts(avoidTimeouts), policy.Times(len(w.avoid), patience))))
}

// forgive no longer avoids a member: it has taken part in a handoff.
func (w *walker) forgive(id wire.MemberID) { w.avoid.Forgive(id) }

// order names the order of a lap. In a shuffle each token has its own order. With the same order, the tokens would soon
// follow each other, and the later ones would find no member due.
func (c *Config) order(number uint32) uint64 {
	name := uint64(number) + uint64(c.Slot)<<32
	if c.Walk == Sweep {
		name = 0
	}
	return lap.Scramble(uint64(c.Gate) + lap.Scramble(name+1))
}

// draw returns a uniform number below n, by multiplication; n is far too small for the bias of 2⁻⁶⁴ × n to show.
func (c *Config) draw(n int) int {
	hi, _ := bits.Mul64(c.Entropy.Uint64(), uint64(n))
	return int(hi)
}

// peers is a view of the gate's live members, this one among them.
type peers struct{ soft.Peers }

func newPeers(ids []wire.MemberID, self wire.MemberID) peers { return peers{soft.NewPeers(ids, self)} }
