package scenario

import (
	"strconv"
	"strings"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/sim"
)

// shapeTable returns the parameters of what a gate adds to its protocol: what follows an operation, and what holds one
// up.
func (p *Parameters) shapeTable() settings.Table {
	return settings.Table{
		settings.Row("soak", settings.Duration(&p.Soak), "0s",
			"How long the grant stays with a host once its operation has succeeded: nobody else starts meanwhile. "+
				"The figures count it as a part of the operation."),
		settings.Row("unhealthy", settings.Share(&p.Unhealthy), "0%",
			"The share of hosts that are not healthy when they have soaked: their operation counts as failed.").
			Needing("soak"),
		settings.Row("max_down", settings.Count(&p.MaxDown, 0, maxMembers), "0",
			"How many members may be down when an operation starts, that one included. 0 is no limit."),
		settings.Row("first", settings.Text(&p.First), "",
			"The sizes of the stages but the last, as in 2,50: two canaries, then fifty, then the rest. A failure in "+
				"a stage pauses the gate, and nobody resumes it.").As("NUMBER,NUMBER"),
		settings.Row("first_wait", settings.Positive(&p.FirstWait), "1h",
			"How long a member that was due and is away holds up the later stages.").Needing("first"),
	}
}

// mostShaped is how many members a fleet may have in which each member knows where the others stand.
const mostShaped = 2000

// checkShape checks the parameters of the shape.
func (p *Parameters) checkShape(r *settings.Reading) {
	first := r.Of(&p.First)
	if p.MaxDown > 0 && p.MaxDown < p.Slots.Of(p.Members) {
		r.Object("%s is less than %s: nobody could start beside those that may run under the other tokens",
			r.Of(&p.MaxDown), r.Of(&p.Slots))
	}
	if (p.MaxDown > 0 || p.First != "") && p.Members > mostShaped {
		r.Object("%s is more than "+strconv.Itoa(mostShaped)+": in larger fleets neither max_down nor first can be "+
			"simulated", r.Of(&p.Members))
	}
	if p.First == "" {
		return
	}
	if p.onDemand() {
		r.Object("%s orders the members' own operations, and with %s they have none: add beside_hook", first,
			r.Of(&p.Demand))
	}
	sizes, all := [2]int{}, 0
	for i, text := range strings.Split(p.First, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || i >= len(sizes) {
			r.Object("%s is not one number of members or two, as in 2,50", first)
			return
		}
		sizes[i] = n
		all += n
	}
	if all >= p.Members {
		r.Object("%s leaves none of %s for the last stage", first, r.Of(&p.Members))
	}
	p.stages = sizes
}

// shape is the shape as the simulator wants it.
func (p *Parameters) shape() sim.Shape {
	s := sim.Shape{MaxDown: p.MaxDown, Canaries: p.stages[0], Second: p.stages[1]}
	if s.Canaries > 0 {
		s.FirstWait = p.FirstWait
	}
	return s
}
