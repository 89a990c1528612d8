package transpeer

import (
	"math/bits"

	"github.com/wanderd/wanderd/policy/kcopies"
)

// History is the metadata of a dataset: the transactions that have been performed on it, one bit for each.
type History kcopies.Data

// MaxTransactions is how many transactions a history has room for.
const MaxTransactions = 8 * len(History{})

// Has reports whether a transaction, numbered from 1 to MaxTransactions, has been performed.
func (h *History) Has(number int) bool { return h[(number-1)/8]>>((number-1)%8)&1 != 0 }

// Add records a transaction.
func (h *History) Add(number int) { h[(number-1)/8] |= 1 << ((number - 1) % 8) }

// Len returns how many transactions have been performed.
func (h *History) Len() int {
	n := 0
	for _, b := range h {
		n += bits.OnesCount8(b)
	}
	return n
}
