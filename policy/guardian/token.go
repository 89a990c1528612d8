package guardian

import "github.com/wanderd/wanderd/wire"

// Token is a token with its load, as its holder has it and as its guardians keep it.
type Token struct {
	wire.Ref
	Load wire.Load
}

// TokenOf returns the token that a message is about.
func TokenOf(m *wire.Message) Token { return Token{Ref: m.Token, Load: m.Load} }

// Trail returns the token's guardians.
func (t *Token) Trail() Trail { return TrailOf(&t.Load) }

// Guarded reports whether the token has guardians. It is called in every step, so it reads only the first place: empty
// places are last.
func (t *Token) Guarded() bool { return !wire.MemberID(t.Load[:len(wire.MemberID{})]).IsZero() }

// SetTrail sets the token's guardians.
func (t *Token) SetTrail(trail *Trail) { SetTrail(&t.Load, trail) }
