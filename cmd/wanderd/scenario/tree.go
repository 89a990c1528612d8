package scenario

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
)

// PolicyTree is the name of the policy of a token that goes to those who ask, by a tree and a queue.
const PolicyTree = "tree"

// treeTable has the parameters of a tree: those of its own, and of a ring's those that mean the same here.
func (p *Parameters) treeTable() settings.Table {
	shared := p.ringTable()
	const only = " Of --policy tree."
	return slices.Concat(settings.Table{
		shared.Find("policy"),
		settings.Row("recovery", settings.Choice(&p.Recovery, tree.Fair, tree.Baseline), tree.Fair.String(),
			"How waiting members recover the queue after a crash: fair keeps its order (Sopena, Arantes and Sens); baseline is Naimi and "+
				"Tréhel's own."+only),
		settings.Row("timeout", settings.Positive(&p.Timeout), "3950ms",
			"After how long a member that waits suspects a failure: CommitTimer, TokenTimer and NT-Timer of the paper."+only),
		shared.Find("links"),
	}.Under("Tree"), settings.Table{
		shared.Find("op"), shared.Find("demand"),
		again(shared, "backups", settings.Count(&p.Backups, 1, tree.MaxBackups), "2"),
		again(shared, "members", settings.Count(&p.Members, 1, maxRing), "150"),
		shared.Find("duration"), shared.Find("seed"), shared.Find("seeds"), shared.Find("op_jitter"),
		shared.Find("latency"), shared.Find("jitter"), shared.Find("loss"), shared.Find("duplicate"),
		shared.Find("crash_every"), shared.Find("down_for"), shared.Find("pause_every"), shared.Find("pause_for"),
	})
}

func (p *Parameters) checkTree(r *settings.Reading) {
	p.checkOp(r)
	p.checkLinks(r, "lose nothing", &p.Loss, &p.Duplicate, &p.PauseEvery)
	r.CheckNeeds()
}

// leastAnswer is the least time for which a site waits for an answer: MPing of the paper.
const leastAnswer = 148 * time.Millisecond

// Tree returns the scenario as the simulator wants it. A site's answer takes a round trip; ReconnectionTimer is ten of them, as in the paper.
func (p *Parameters) Tree() treeing.Scenario {
	answer := max(leastAnswer, 4*(p.Latency+p.Jitter))
	s := treeing.Scenario{
		Seed: p.Seed, Members: p.Members, Backups: p.Backups, Recovery: p.Recovery, Section: p.Op, SectionSpread: p.OpJitter.Of(p.Op),
		Between: p.Demand, Limit: p.Duration,
		Timers:  tree.Timers{Commit: p.Timeout, Token: p.Timeout, Reconnection: 10 * answer, Liveness: answer},
		Network: sim.Network{Latency: p.Latency, Jitter: p.Jitter},
		Faults:  p.faults(),
	}
	if p.Links == ring.UDP {
		s.Links = tree.UDP
		s.Network.Loss, s.Network.Duplicate = p.Loss, p.Duplicate
	}
	return s
}
