package scenario

import (
	"slices"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
)

// PolicyTermination and PolicyElection are the names of the policies that decide something on a ring, and run nothing.
const (
	PolicyTermination = "termination"
	PolicyElection    = "election"
)

// terminationTable returns the parameters of a ring that detects termination, and of the application whose termination
// it detects.
func (p *Parameters) terminationTable() settings.Table {
	return p.decidingTable(
		settings.Row("work", settings.Count(&p.Work, 0, 1<<16-1), "100",
			"For how many hops the work may go on that a member begins with: every second piece, on average, leads "+
				"to one at the next member. "+
				"Of --policy termination."),
		p.wanderTable().Find("op"),
	)
}

func (p *Parameters) electionTable() settings.Table { return p.decidingTable() }

// decidingTable returns the parameters of a ring that decides something: those in own, and those of the wandering token
// that mean the same here.
func (p *Parameters) decidingTable(own ...*settings.Setting) settings.Table {
	t := p.wanderTable()
	change(t, "backups", settings.Count(&p.Backups, 0, maxDeciding), "2")
	change(t, "members", settings.Count(&p.Members, 2, maxDeciding), "20")
	change(t, "duration", settings.Positive(&p.Duration), "1h")
	change(t, "latency", settings.Positive(&p.Latency), "1ms")
	change(t, "detect_after", settings.Moment(&p.DetectAfter), "1s")
	return slices.Concat(t.Only("policy"), settings.Table(own).Under("Gate"),
		t.Only("backups", "members", "duration", "seed", "seeds", "latency", "jitter", "detect_after", "crash_every"))
}

// maxDeciding is the greatest number of members of a ring that decides something: in an election each member has a part
// of the claim of every other.
const maxDeciding = 1000

func (p *Parameters) checkDeciding(r *settings.Reading) {
	if p.Backups > p.Members-2 {
		r.Object("%s must be at most %s less 2: k copies go to k members behind the next holder", r.Of(&p.Backups),
			r.Of(&p.Members))
	}
	r.CheckNeeds()
}

// Deciding returns the scenario as the simulator wants it: on FIFO links that lose nothing, with a perfect detector. A
// member that crashes stays down.
func (p *Parameters) Deciding() kcopies.World {
	w := kcopies.World{
		Seed: p.Seed, Members: p.Members, K: p.Backups, Latency: p.Latency, Jitter: p.Jitter, FIFO: true,
		Duration: p.Duration,
	}
	if p.DetectAfter != nil {
		w.Detect = *p.DetectAfter
	}
	return w
}
