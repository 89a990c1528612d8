package scenario

import (
	"slices"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
)

// maxRing is the greatest number of members of a ring: a request passes all of them.
const maxRing = 10_000

// ringTable returns the parameters of a ring: its own, and those of the wandering token that mean the same here.
func (p *Parameters) ringTable() settings.Table {
	t := p.wanderTable()
	change(t, "demand", settings.Positive(&p.Demand), "10m")
	change(t, "backups", settings.Count(&p.Backups, 0, ring.MaxMembers), "2")
	change(t, "members", settings.Count(&p.Members, 1, maxRing), "150")
	change(t, "latency", settings.Positive(&p.Latency), "1ms")
	const only = " Of --policy ring."
	return slices.Concat(t.Only("policy"), settings.Table{
		settings.Row("request", settings.Choice(&p.Request, ring.Requests()...), ring.Q.String(),
			"What moves the token: it always moves (Le Lann), or on request by Martin's protocol, Q or D."+only),
		settings.Row("links", settings.Choice(&p.Links, ring.Paper, ring.UDP), ring.Paper.String(),
			"What is between the members: paper has FIFO links that lose nothing, one message for a hop, and a "+
				"perfect detector of crashes; "+
				"udp has handoffs of three datagrams, and the faults of the network. Of --policy ring and tree."),
	}.Under("Ring"), t.Only("op", "demand", "backups", "members", "duration", "seed", "seeds", "op_jitter", "latency",
		"jitter", "loss",
		"duplicate", "detect_after", "crash_every", "down_for", "pause_every", "pause_for"))
}

func (p *Parameters) checkRing(r *settings.Reading) {
	p.checkOp(r)
	p.checkLinks(r, "lose nothing and have a perfect detector", &p.Loss, &p.Duplicate, &p.DetectAfter, &p.PauseEvery)
	r.CheckNeeds()
}

// checkLinks rejects parameters that have no effect on the papers' links, with the reason why.
func (p *Parameters) checkLinks(r *settings.Reading, why string, without ...any) {
	for _, at := range without {
		if s := r.Of(at); s.IsGiven() && p.Links == ring.Paper {
			r.Object("%s has no effect on links paper, which "+why+": choose links udp, or leave it out", s)
		}
	}
}

// Ring returns the scenario as the simulator wants it.
func (p *Parameters) Ring() ringing.Scenario {
	s := ringing.Scenario{
		Seed: p.Seed, Members: p.Members, Request: p.Request, Links: p.Links, Backups: p.Backups, Duration: p.Duration,
		Network: p.Network, Membership: p.membership(), Faults: p.Faults,
		Hook: sim.Hook{Takes: p.Op, Spread: p.OpJitter.Of(p.Op)}, Demand: sim.Demand{Every: p.Demand},
	}
	if p.Links == ring.Paper {
		s.Network, s.Membership = ringing.PaperLinks(p.Latency), ringing.PerfectDetector()
		s.Network.Jitter = p.Jitter
	}
	return s
}
