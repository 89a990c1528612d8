package ballot

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// MaxRoster is the largest number of members of a roster.
const MaxRoster = 1 << rankBits

// Roster is the fixed membership of a strict gate, in the order of the names. It does not change while a machine lives.
//
// "The roster: names, the same on all members; its hash is in every strict message; members that differ are warned
// about and do not count." The hash covers the keys too: two keys under one name would be one voter with two memories.
type Roster struct {
	members []rosterMember
	hash    uint64
	sums    sums
}

type rosterMember struct {
	name string
	id   wire.MemberID
}

// NewRoster returns the roster of members with these names; ids[i] is the identity of the member names[i]. If a name or
// key is listed twice, the error names it.
func NewRoster(names []string, ids []wire.MemberID) (Roster, error) {
	switch {
	case len(names) == 0:
		return Roster{}, errors.New("the roster is empty")
	case len(names) > MaxRoster:
		return Roster{}, fmt.Errorf("the roster has %d members; the most are %d", len(names), MaxRoster)
	case len(ids) != len(names):
		return Roster{}, fmt.Errorf("the roster has %d names and %d keys", len(names), len(ids))
	}
	r := Roster{members: make([]rosterMember, len(names))}
	for i, name := range names {
		if name == "" || ids[i].IsZero() {
			return Roster{}, fmt.Errorf("place %d of the roster has no name or no key: %q, %s", i+1, name, ids[i])
		}
		r.members[i] = rosterMember{name, ids[i]}
	}
	slices.SortFunc(r.members, func(a, b rosterMember) int { return cmp.Compare(a.name, b.name) })
	for i, m := range r.members {
		for _, before := range r.members[:i] {
			if before.name == m.name {
				return Roster{}, fmt.Errorf("%q is in the roster twice, with the keys of %s and %s", m.name,
					before.id.Short(), m.id.Short())
			}
			if before.id == m.id {
				return Roster{}, fmt.Errorf("%q and %q have one key, that of %s: they would be one voter that counts "+
					"twice", before.name, m.name, m.id.Short())
			}
		}
	}
	r.hash, r.sums = r.hashed(), r.summed()
	return r, nil
}

// RosterOf returns the roster of these voters. No name and no key may be listed twice.
func RosterOf(voters []policy.Voter) Roster {
	names, ids := make([]string, len(voters)), make([]wire.MemberID, len(voters))
	for i, v := range voters {
		names[i], ids[i] = v.Name, v.ID
	}
	r, err := NewRoster(names, ids)
	if err != nil {
		panic("ballot: " + err.Error())
	}
	return r
}

// hashed returns the first eight bytes of a SHA-256 hash of all names and keys.
func (r *Roster) hashed() uint64 {
	h := sha256.New()
	_, _ = h.Write([]byte("wanderd roster v1\x00"))
	for _, m := range r.members {
		_, _ = fmt.Fprintf(h, "%d\x00%s", len(m.name), m.name)
		_, _ = h.Write(m.id[:])
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// Len returns N.
func (r *Roster) Len() int { return len(r.members) }

// Majority returns M: "M = ⌊N/2⌋ + 1 of the roster (never of the live view)".
func (r *Roster) Majority() int { return len(r.members)/2 + 1 }

// Hash returns the hash that every message carries. Two different rosters never have the same hash.
func (r *Roster) Hash() uint64 { return r.hash }

// ID returns the identity of the member of a rank.
func (r *Roster) ID(rank int) wire.MemberID { return r.members[rank].id }

// Name returns the name of the member of a rank.
func (r *Roster) Name(rank int) string { return r.members[rank].name }

// Rank returns the rank of a member; ok is false if it is not in the roster.
func (r *Roster) Rank(id wire.MemberID) (rank int, ok bool) {
	for i := range r.members {
		if r.members[i].id == id {
			return i, true
		}
	}
	return 0, false
}

// String returns the names, with commas.
func (r *Roster) String() string {
	names := make([]string, len(r.members))
	for i, m := range r.members {
		names[i] = m.name
	}
	return strings.Join(names, ", ")
}
