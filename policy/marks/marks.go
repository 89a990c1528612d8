// Package marks counts the rare branches that machines take, for whoever looks for bugs: a hunt keeps worlds in which
// one rare branch followed another for the first time, and goes on from there.
//
// A machine marks a branch with one call of [Marker.Hit], which does nothing if nobody listens: then the machine has no
// marker. No machine reads one, so nothing that it does depends on it.
package marks

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
)

// Mark is a rare branch of a machine. Each package numbers its own: the handoff from 1, the guardians from 32, a
// protocol from 96, or a ballot from 96, and the strict gate around it from 160.
type Mark uint8

// all is how many marks there can be.
const all = 1 << 8

// Marker is what one machine hits. It is nil if nobody listens.
type Marker struct {
	set *Set
	// last is the mark before; zero at first.
	last Mark
}

// Hit notes that a branch was taken.
func (k *Marker) Hit(m Mark) {
	if k != nil {
		k.set.hit(k.last, m)
		k.last = m
	}
}

// Set is which marks were hit by the machines of a world, and in which pairs: a mark and the one before it of the same
// machine. The zero value is empty. Nobody may hit it while another one uses it.
type Set struct {
	counts [all]uint64
	// pairs has a bit for each pair: the earlier mark is the row.
	pairs [all][all / 64]uint64
	// known are the pairs that are no news, fresh is how many others there are.
	known *Set
	fresh int
}

// Beside returns an empty set that counts the pairs which another one does not have. That one must not change as long
// as this one is hit.
func Beside(known *Set) *Set { return &Set{known: known} }

// Marker returns what another machine hits; nil if there is no set.
func (s *Set) Marker() *Marker {
	if s == nil {
		return nil
	}
	return &Marker{set: s}
}

func (s *Set) hit(row, m Mark) {
	s.counts[m]++
	word, bit := m/64, uint64(1)<<(m%64)
	if s.pairs[row][word]&bit == 0 {
		s.pairs[row][word] |= bit
		if s.known != nil && s.known.pairs[row][word]&bit == 0 {
			s.fresh++
		}
	}
}

// Fresh returns how many pairs there are that the set beside it does not have.
func (s *Set) Fresh() int { return s.fresh }

// Count returns how often a mark was hit.
func (s *Set) Count(m Mark) uint64 { return s.counts[m] }

// Pairs returns how many pairs there are.
func (s *Set) Pairs() (n int) {
	for i := range s.pairs {
		for _, word := range s.pairs[i] {
			n += bits.OnesCount64(word)
		}
	}
	return n
}

// Each yields all pairs, each as a number that is the same in all sets.
func (s *Set) Each(yield func(pair uint16) bool) {
	for i := range s.pairs {
		for j, word := range s.pairs[i] {
			for ; word != 0; word &= word - 1 {
				if !yield(uint16(i)<<8 | uint16(j*64+bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Add adds all that another set has, and returns how many of its pairs are new.
func (s *Set) Add(other *Set) (pairs int) {
	for i, n := range other.counts {
		s.counts[i] += n
	}
	for i := range s.pairs {
		for j, word := range other.pairs[i] {
			pairs += bits.OnesCount64(word &^ s.pairs[i][j])
			s.pairs[i][j] |= word
		}
	}
	return pairs
}

// Names are the marks of a package or of a protocol, each with what it says.
type Names map[Mark]string

// Join returns the marks of several packages. No two may have the same number.
func Join(packages ...Names) Names {
	joined := Names{}
	for _, names := range packages {
		for m, name := range names {
			if other, twice := joined[m]; twice {
				panic(fmt.Sprintf("marks: %q and %q have the number %d", other, name, m))
			}
			joined[m] = name
		}
	}
	return joined
}

// Each yields all marks, by their numbers.
func (n Names) Each(yield func(m Mark, name string) bool) {
	for _, m := range slices.Sorted(maps.Keys(n)) {
		if !yield(m, n[m]) {
			return
		}
	}
}

// Never returns the names of those that a set has not.
func (n Names) Never(s *Set) (names []string) {
	for m, name := range n.Each {
		if s.Count(m) == 0 {
			names = append(names, name)
		}
	}
	return names
}
