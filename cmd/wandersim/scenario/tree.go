package scenario

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/tree"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
)

// treeTable returns the parameters of a tree: its own, and those of a ring that mean the same here.
func (p *Parameters) treeTable() settings.Table {
	t := p.ringTable()
	change(t, "backups", settings.Count(&p.Backups, 1, tree.MaxBackups), "2")
	const only = " Of --policy tree."
	return slices.Concat(t.Only("policy"), settings.Table{
		settings.Row("recovery", settings.Choice(&p.Recovery, tree.Fair, tree.Baseline), tree.Fair.String(),
			"How waiting members recover the queue after a crash: fair keeps its order (Sopena, Arantes and Sens); "+
				"baseline is Naimi and "+
				"Tréhel's own."+only),
		settings.Row("timeout", settings.Positive(&p.Timeout), "3950ms",
			"After how long a member that waits suspects a failure: CommitTimer, TokenTimer and NT-Timer of the paper."+
				only),
	}.Under("Tree"), slices.DeleteFunc(t, func(s *settings.Setting) bool {
		return slices.Contains([]string{"policy", "request", "detect_after"}, s.Key)
	}))
}

func (p *Parameters) checkTree(r *settings.Reading) {
	p.checkOp(r)
	p.checkLinks(r, "lose nothing", &p.Loss, &p.Duplicate, &p.PauseEvery)
	r.CheckNeeds()
}

// leastAnswer is the least time for which a site waits for an answer: MPing of the paper.
const leastAnswer = 148 * time.Millisecond

// Tree returns the scenario as the simulator wants it. A site's answer takes a round trip; ReconnectionTimer is ten of
// them, as in the paper.
func (p *Parameters) Tree() treeing.Scenario {
	answer := max(leastAnswer, 4*(p.Latency+p.Jitter))
	s := treeing.Scenario{
		Seed: p.Seed, Members: p.Members, Backups: p.Backups, Recovery: p.Recovery, Section: p.Op,
		SectionSpread: p.OpJitter.Of(p.Op),
		Between:       p.Demand, Limit: p.Duration,
		Timers:  tree.Timers{Commit: p.Timeout, Token: p.Timeout, Reconnection: 10 * answer, Liveness: answer},
		Network: p.Network, Faults: p.Faults,
	}
	if p.Links == ring.UDP {
		s.Links = tree.UDP
	}
	return s
}
