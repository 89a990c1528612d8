package trace

import (
	"fmt"
	"io"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Words describe the terms that only one protocol has. The zero value describes nothing.
type Words struct {
	// Ran returns the token of the last run from a saved state. It is nil if that is not saved.
	Ran func(*policy.State) wire.TokenID
	// Nonce describes the nonce of a message whose nonce has another meaning.
	Nonce func(*wire.Message) (said string, none bool)
	// About describes what else a message carries. It is empty if there is nothing.
	About func(*wire.Message) string
	// Guardians returns the guardians of the token that a message names.
	Guardians func(*wire.Message) []wire.MemberID
	// Drawn are the notes that repeat what arrows show.
	Drawn []policy.Note
}

// writer writes text, and gives short names to the things in a trace: tokens T1, T2…, handoffs h1, h2… and nonces n1,
// n2…, in the order in which they appear.
type writer struct {
	w        io.Writer
	err      error
	words    Words
	notes    policy.Notes
	kinds    policy.Kinds
	tokens   map[tokenKey]int
	handoffs map[wire.Exchange]int
	nonces   map[wire.Nonce]int
}

// tokenKey is the part of a token's identity that Ack and Commit also have: their generator is NULL.
type tokenKey struct {
	birth  int64
	random uint64
}

func newWriter(w io.Writer, words Words) writer {
	return writer{
		w: w, words: words, tokens: map[tokenKey]int{}, handoffs: map[wire.Exchange]int{}, nonces: map[wire.Nonce]int{},
	}
}

// print writes a line, unless writing has failed before.
func (t *writer) print(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *writer) tokenName(id wire.TokenID) string {
	return number("T", t.tokens, tokenKey{birth: id.Birth, random: id.Random})
}

func (t *writer) nonce(id wire.Nonce) string { return number("n", t.nonces, id) }

// number names things in the order in which they appear.
func number[K comparable](prefix string, known map[K]int, k K) string {
	if _, ok := known[k]; !ok {
		known[k] = len(known) + 1
	}
	return fmt.Sprintf("%s%d", prefix, known[k])
}

// seqText writes a fencing number as epoch and hops, or as hops alone in the first epoch. The tie that a guardian drew
// for its revival follows the epoch.
func seqText(s wire.Seq) string {
	epoch, tie, hops := s>>32, s>>24&0xff, s&0xffffff
	switch {
	case epoch == 0:
		return fmt.Sprint(uint64(s))
	case tie == 0:
		return fmt.Sprintf("%d:%d", epoch, hops)
	}
	return fmt.Sprintf("%d.%d:%d", epoch, tie, hops)
}
