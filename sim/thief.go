package sim

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// LoseToken loses tokens on their way from one member to another: each time that take returns true, it loses all
// messages by which the sender gives the token up (Commits, in a handoff). It replaces the function given to Intercept.
func (c *Cluster) LoseToken(take func() bool) {
	var lost wire.Exchange
	c.Intercept(func(m *wire.Message) Fate {
		if c.cfg.Descriptor.Kinds.Part(m.Kind) != policy.Passes {
			return Fate{}
		}
		if m.Exchange != lost && take() {
			lost = m.Exchange
		}
		return Fate{Lose: m.Exchange == lost}
	})
}

// LoseNext loses the token of the next handoff that ends while no other member holds one, and calls then at that
// moment. It replaces the function given to Intercept.
func (c *Cluster) LoseNext(then func()) {
	lost := false
	c.LoseToken(func() bool {
		if lost || c.hands > 0 {
			return false
		}
		lost = true
		then()
		return true
	})
}
