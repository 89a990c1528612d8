package guardian

import "github.com/wanderd/wanderd/wire"

// Token is a token with its load, as its holder has it and its guardians keep it.
type Token struct {
	wire.Ref
	Load wire.Load
}

// TokenOf returns the token that a message is about.
func TokenOf(m *wire.Message) Token { return Token{Ref: m.Token, Load: m.Load} }

// Trail returns its guardians.
func (t *Token) Trail() Trail { return TrailOf(&t.Load) }

// Guarded reports whether it has any. Every step asks: empty places are last, so it reads the first one only.
func (t *Token) Guarded() bool { return !wire.MemberID(t.Load[:len(wire.MemberID{})]).IsZero() }

// SetTrail sets its guardians.
func (t *Token) SetTrail(trail *Trail) { SetTrail(&t.Load, trail) }
