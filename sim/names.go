package sim

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// names gives short names to what a story speaks of: tokens T1, T2…, handoffs h1, h2… and nonces n1, n2… in the order in
// which they appear.
type names struct {
	notes    policy.Notes
	tokens   map[tokenKey]int
	handoffs map[wire.HandoffID]int
	nonces   map[wire.Nonce]int
}

// tokenKey is what Ack and Commit, whose generator is NULL, still say of a token's identity.
type tokenKey struct {
	birth  int64
	random uint64
}

func newNames() names {
	return names{tokens: map[tokenKey]int{}, handoffs: map[wire.HandoffID]int{}, nonces: map[wire.Nonce]int{}}
}

func (n *names) tokenName(id wire.TokenID) string {
	return number("T", n.tokens, tokenKey{birth: id.Birth, random: id.Random})
}

func (n *names) handoff(id wire.HandoffID) string { return number("h", n.handoffs, id) }

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

// clock writes a moment in seconds.
func clock(t policy.Time) string { return fmt.Sprintf("%.3fs", time.Duration(t).Seconds()) }

// MemberName calls the first members a to z and the rest m26, m27…
func MemberName(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprintf("m%d", i)
}
