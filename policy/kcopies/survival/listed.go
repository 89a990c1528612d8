package survival

import "math/bits"

// Listed is W_k(f, N), found by looking at all 2^N states of the ring; it is meant for rings of a dozen members.
func (r Ring) Listed(k int) int64 {
	count := int64(0)
	for crashed := range uint64(1) << r.members {
		if bits.OnesCount64(crashed) == r.crashed && LongestRow(crashed, r.members) <= k {
			count++
		}
	}
	return count
}

// LongestRow is the largest number of crashed members in a row, round a ring of at most 64 members.
func LongestRow(crashed uint64, members int) int {
	longest, row := 0, 0
	// Twice round, so that a row that passes the end is counted whole.
	for i := range 2 * members {
		if crashed>>(i%members)&1 == 0 {
			row = 0
			continue
		}
		row++
		longest = max(longest, min(row, members))
	}
	return longest
}
