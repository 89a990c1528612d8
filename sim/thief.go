package sim

import "github.com/wanderd/wanderd/wire"

// LoseToken loses tokens on their way from one member to another: each time take says so, all Commits of the handoff that is about
// to end. It takes the place of what Intercept was told.
func (c *Cluster) LoseToken(take func() bool) {
	var lost wire.HandoffID
	c.Intercept(func(m *wire.Message) Fate {
		if m.Kind != wire.KindCommit {
			return Fate{}
		}
		if m.Handoff != lost && take() {
			lost = m.Handoff
		}
		return Fate{Lose: m.Handoff == lost}
	})
}
