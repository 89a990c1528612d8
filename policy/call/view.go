package call

import (
	"encoding/binary"
	"math/bits"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander/lap"
	"github.com/wanderd/wanderd/wire"
)

// view is what a member knows of the others: who is there, who does not answer, and who is a home.
//
// R1 Homes. "The homes of a slot are the first H members of one's own view by rendezvous hash of (gate, slot, member).
// The token's trail names them, without the holder and avoided members (with these if none is left)."
type view struct {
	soft.Peers
	// order are the places in ids of the first members by hash: the homes, and those that replace them.
	order [mostHomes]int32
	found int
	avoid soft.Avoided
	// silent are those of order that have not answered the announcements of this visit. One that hears nothing may
	// call, and is not avoided then.
	silent uint8
}

// setSilent notes whether a home has answered this visit's announcements.
func (v *view) setSilent(id wire.MemberID, silent bool) {
	switch place, ok := v.place(id); {
	case !ok:
	case silent:
		v.silent |= 1 << place
	default:
		v.silent &^= 1 << place
	}
}

// mostHomes is how many members by hash are kept: homes, and their replacements where some do not answer.
const mostHomes = 2 * guardian.MaxBackups

// see takes another list of members.
func (v *view) see(cfg *Config, ids []wire.MemberID) {
	v.Peers = soft.NewPeers(ids, cfg.Self)
	var best [mostHomes]uint64
	v.found, v.silent = 0, 0
	for i := range ids {
		h := lap.Scramble(binary.BigEndian.Uint64(ids[i][:]) ^ lap.Scramble(uint64(cfg.Gate)+uint64(cfg.Slot)))
		at := v.found
		for at > 0 && h > best[at-1] {
			at--
		}
		if at == mostHomes {
			continue
		}
		copy(best[at+1:], best[at:])
		copy(v.order[at+1:], v.order[at:])
		best[at], v.order[at] = h, int32(i)
		v.found = min(v.found+1, mostHomes)
	}
}

// home returns the home of a rank, by this member's own view.
func (v *view) home(rank int) (wire.MemberID, bool) {
	if rank >= v.found {
		return wire.MemberID{}, false
	}
	return v.IDs[v.order[rank]], true
}

// firstHome is the home of rank 0; zero if there is no view yet.
func (v *view) firstHome() wire.MemberID {
	id, _ := v.home(0)
	return id
}

// place returns the place of a member in order, if it is a home or one of those that replace silent homes.
func (v *view) place(id wire.MemberID) (place int, ok bool) {
	for place := range v.found {
		if home, _ := v.home(place); home == id {
			return place, true
		}
	}
	return 0, false
}

// rank returns which home a member is by this member's own view, from 0, if it is one.
func (v *view) rank(cfg *Config, id wire.MemberID) (rank int, isHome bool) {
	rank, ok := v.place(id)
	return rank, ok && rank < cfg.homes()
}

// isHome reports whether a member is a home by this member's own view.
func (v *view) isHome(cfg *Config, id wire.MemberID) bool {
	_, is := v.rank(cfg, id)
	return is
}

// mayBeHome reports whether a member is a home, or one of those that replace silent homes.
func (v *view) mayBeHome(id wire.MemberID) bool {
	_, may := v.place(id)
	return may
}

// areSilent reports whether none of these homes has answered this visit's announcements.
func (v *view) areSilent(t guardian.Trail) bool {
	for _, id := range t[:t.Len()] {
		if place, ok := v.place(id); !ok || v.silent&(1<<place) == 0 {
			return false
		}
	}
	return t.Len() > 0
}

// another returns a trail of one member that is drawn from all others.
func (v *view) another(cfg *Config) (t guardian.Trail) {
	hi, _ := bits.Mul64(cfg.Entropy.Uint64(), uint64(len(v.IDs)-1))
	t.Add(v.IDs[(v.Rank+1+int(hi))%len(v.IDs)])
	return t
}

// trail returns the homes that guard a token held here.
func (v *view) trail(cfg *Config, now policy.Time) (t guardian.Trail) {
	for pass := range 2 {
		for rank := 0; rank < v.found && t.Len() < cfg.homes(); rank++ {
			if id, _ := v.home(rank); id != cfg.Self && (pass == 1 || !v.avoid.Has(id, now)) {
				t.Add(id)
			}
		}
		if t.Len() > 0 {
			break
		}
	}
	return t
}
