package tell

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Words are what a family of machines calls its own in a story. The zero value does for one that has nothing of its own.
type Words struct {
	// Ran returns the token under which a member ran last, as it has saved; nil if it does not save that.
	Ran func(*policy.State) wire.TokenID
	// Nonce says what the nonce of a message is, if it is none.
	Nonce func(*wire.Message) (said string, none bool)
	// About says what else a message carries; empty for nothing.
	About func(*wire.Message) string
	// Guardians returns those whom a message names as guardians of its token.
	Guardians func(*wire.Message) []wire.MemberID
	// Drawn are the notes that say what arrows show.
	Drawn []policy.Note
}

// names gives short names to what a story speaks of: tokens T1, T2…, handoffs h1, h2… and nonces n1, n2… in the order in
// which they appear.
type names struct {
	words    Words
	notes    policy.Notes
	kinds    policy.Kinds
	tokens   map[tokenKey]int
	handoffs map[wire.Exchange]int
	nonces   map[wire.Nonce]int
}

// tokenKey is what Ack and Commit, whose generator is NULL, still say of a token's identity.
type tokenKey struct {
	birth  int64
	random uint64
}

func newNames(words Words) names {
	return names{words: words, tokens: map[tokenKey]int{}, handoffs: map[wire.Exchange]int{}, nonces: map[wire.Nonce]int{}}
}

func (n *names) tokenName(id wire.TokenID) string {
	return number("T", n.tokens, tokenKey{birth: id.Birth, random: id.Random})
}

func (n *names) handoff(id wire.Exchange) string { return number("h", n.handoffs, id) }

func (n *names) nonce(id wire.Nonce) string { return number("n", n.nonces, id) }

// number names things in the order in which they appear.
func number[K comparable](prefix string, known map[K]int, k K) string {
	if _, ok := known[k]; !ok {
		known[k] = len(known) + 1
	}
	return fmt.Sprintf("%s%d", prefix, known[k])
}

// seqText writes a fencing number as epoch and hops, or hops alone in the first epoch. What a guardian has drawn for its
// revival to be told from another's stands behind the epoch.
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
