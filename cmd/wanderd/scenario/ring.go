package scenario

import (
	"slices"

	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
)

// PolicyRing is the name of the policy of a token that goes round a ring.
const PolicyRing = "ring"

// maxRing is the most members of a ring: a request passes all of them.
const maxRing = 10_000

// ringTable has the parameters of a ring: those of its own, and of the wandering token's those that mean the same here.
func (p *Parameters) ringTable() settings.Table {
	shared := p.wanderTable()
	const only = " Of --policy ring."
	return slices.Concat(settings.Table{
		shared.Find("policy"),
		settings.Row("request", settings.Choice(&p.Request, ring.Requests()...), ring.Q.String(),
			"What moves the token: it always moves (Le Lann), or on request by Martin's protocol, Q or D."+only),
		settings.Row("links", settings.Choice(&p.Links, ring.Paper, ring.UDP), ring.Paper.String(),
			"What is between the members: paper has FIFO links that lose nothing, one message for a hop, and a perfect detector of crashes; "+
				"udp has handoffs of three datagrams, and the faults of the network. Of --policy ring and tree."),
	}.Under("Ring"), settings.Table{
		shared.Find("op"),
		again(shared, "demand", settings.Positive(&p.Demand), "10m"),
		again(shared, "backups", settings.Count(&p.Backups, 0, ring.MaxMembers), "2"),
		again(shared, "members", settings.Count(&p.Members, 1, maxRing), "150"),
		shared.Find("duration"), shared.Find("seed"), shared.Find("seeds"), shared.Find("op_jitter"),
		again(shared, "latency", settings.Positive(&p.Latency), "1ms"),
		shared.Find("jitter"), shared.Find("loss"), shared.Find("duplicate"), shared.Find("detect_after"),
		shared.Find("crash_every"), shared.Find("down_for"), shared.Find("pause_every"), shared.Find("pause_for"),
	})
}

func (p *Parameters) checkRing(r *settings.Reading) {
	p.checkOp(r)
	p.checkLinks(r, "lose nothing and have a perfect detector", &p.Loss, &p.Duplicate, &p.DetectAfter, &p.PauseEvery)
	r.CheckNeeds()
}

// checkLinks objects to parameters that have no effect on the papers' links, and says why.
func (p *Parameters) checkLinks(r *settings.Reading, why string, without ...any) {
	for _, at := range without {
		if s := r.Of(at); s.IsGiven() && p.Links == ring.Paper {
			r.Object("%s has no effect on links paper, which "+why+": choose links udp, or leave it out", s)
		}
	}
}

// faults are those of a ring and of a tree.
func (p *Parameters) faults() sim.Faults {
	return sim.Faults{CrashEvery: p.CrashEvery, DownFor: p.DownFor, PauseEvery: p.PauseEvery, PauseFor: p.PauseFor}
}

// Ring returns the scenario as the simulator wants it.
func (p *Parameters) Ring() ringing.Scenario {
	s := ringing.Scenario{
		Seed: p.Seed, Members: p.Members, Request: p.Request, Links: p.Links, Backups: p.Backups, Duration: p.Duration,
		Network: ringing.PaperLinks(p.Latency), Membership: ringing.PerfectDetector(),
		Hook: sim.Hook{Takes: p.Op, Spread: p.OpJitter.Of(p.Op)}, Demand: sim.Demand{Every: p.Demand},
		Faults: p.faults(),
	}
	s.Network.Jitter = p.Jitter
	if p.Links == ring.UDP {
		s.Network = sim.Network{Latency: p.Latency, Jitter: p.Jitter, Loss: p.Loss, Duplicate: p.Duplicate}
		if s.Membership = sim.MeasuredMembership(p.Members); p.DetectAfter != nil {
			s.Membership = sim.Membership{GossipAfter: *p.DetectAfter, DetectAfter: *p.DetectAfter, RejoinAfter: *p.DetectAfter}
		}
	}
	return s
}
