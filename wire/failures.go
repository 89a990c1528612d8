package wire

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// MaxFailures is how many failures in a row a message can list.
const MaxFailures = 8

// Failures are the hosts on which the last runs of a gate have failed, each once, in the order of the failures. A run
// that succeeds empties the list. Of two lists the one with the higher stamp counts.
type Failures struct {
	// Stamp counts the changes.
	Stamp uint32
	// Hosts are the beginnings of the members' identities, Exits the statuses of their last failed runs, 1 to 255.
	// Empty places are last and zero.
	Hosts [MaxFailures]uint32
	Exits [MaxFailures]uint8
}

// Len returns how many hosts there are.
func (f *Failures) Len() int {
	n := slices.Index(f.Exits[:], 0)
	if n < 0 {
		return MaxFailures
	}
	return n
}

// Add records that a run has failed on a host. A host that is in the list stays in its place. If the list is full, the
// oldest host is removed.
func (f *Failures) Add(host MemberID, exit uint8) {
	f.Stamp++
	hint, n := host.Hint(), f.Len()
	at := slices.Index(f.Hosts[:n], hint)
	switch {
	case at >= 0:
	case n < MaxFailures:
		at = n
	default:
		copy(f.Hosts[:], f.Hosts[1:])
		copy(f.Exits[:], f.Exits[1:])
		at = MaxFailures - 1
	}
	f.Hosts[at], f.Exits[at] = hint, exit
}

// Clear records that the row of failures has ended.
func (f *Failures) Clear() { *f = Failures{Stamp: f.Stamp + 1} }

// Compare is negative if f is older than g. Lists with the same stamp come from runs at the same time: their order
// means nothing, but is the same for all members.
func (f *Failures) Compare(g *Failures) int {
	return cmp.Or(cmp.Compare(f.Stamp, g.Stamp), slices.Compare(f.Hosts[:], g.Hosts[:]),
		slices.Compare(f.Exits[:], g.Exits[:]))
}

// failuresSize is the length of a list in bytes.
const failuresSize = 4 + MaxFailures*4 + MaxFailures

func (f *Failures) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, f.Stamp)
	for _, hint := range f.Hosts {
		dst = binary.BigEndian.AppendUint32(dst, hint)
	}
	return append(dst, f.Exits[:]...)
}

func parseFailures(b []byte) (f Failures) {
	f.Stamp = binary.BigEndian.Uint32(b)
	for i := range f.Hosts {
		f.Hosts[i] = binary.BigEndian.Uint32(b[4+4*i:])
	}
	copy(f.Exits[:], b[4+4*MaxFailures:])
	return f
}

// wellFormed reports whether empty places are last and zero.
func (f *Failures) wellFormed() bool {
	for i := f.Len(); i < MaxFailures; i++ {
		if f.Hosts[i] != 0 || f.Exits[i] != 0 {
			return false
		}
	}
	return true
}
