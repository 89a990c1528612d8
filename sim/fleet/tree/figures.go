package tree

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
)

// Figures are what section 5.1 measures: "number of sent messages, number of received messages, and the obtaining time
// i.e., the time between the moment a node requests the CS and the moment it gets it".
type Figures struct {
	// Sent counts a broadcast once: "the difference between the number of sent and received messages expresses the use
	// of broadcast".
	Sent, Received int
	// Requests is the number of requests.
	Requests int
	// Obtaining are the obtaining times, in order.
	Obtaining []time.Duration
	// Regenerated is how many tokens were made after the first. FalselyRegenerated is how many of them were made while
	// there was another token.
	Regenerated, FalselyRegenerated int
	// Stuck is true if the live sites have not executed their sections by the limit. Waiting is how many live sites
	// have waited for the last quarter of the run or more.
	Stuck   bool
	Waiting int
	// Steps is the number of steps of the sites.
	Steps uint64
}

// Mean returns the mean obtaining time. It is zero if there were no requests.
func (f *Figures) Mean() time.Duration {
	if len(f.Obtaining) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range f.Obtaining {
		sum += d
	}
	return sum / time.Duration(len(f.Obtaining))
}

// Quantile returns the obtaining time that the given share of the requests do not exceed. It is zero if there were no
// requests.
func (f *Figures) Quantile(share float64) time.Duration {
	if len(f.Obtaining) == 0 {
		return 0
	}
	return f.Obtaining[min(int(share*float64(len(f.Obtaining))), len(f.Obtaining)-1)]
}

// meter measures the figures of a run.
type meter struct {
	figures Figures
	// wanted is since when each site waits; policy.Never if it does not.
	wanted []policy.Time
}

// Watch implements [sim.Watcher].
func (m *meter) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	wanted := &m.wanted[o.Member]
	switch {
	case o.Ends() || o.On(policy.Unwanted):
		*wanted = policy.Never
	case o.On(policy.Received):
		m.figures.Received++
	case o.On(policy.Wanted) && *wanted == policy.Never:
		m.figures.Requests++
		*wanted = o.At
	}
	diffused := false
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Run:
			m.figures.Obtaining = append(m.figures.Obtaining, o.At.Sub(*wanted))
			*wanted = policy.Never
		case e.Kind == policy.Send && !tree.Broadcasts(e.Msg.Kind):
			m.figures.Sent++
		case e.Kind == policy.Send && !diffused:
			m.figures.Sent++
			diffused = true
		}
	}
	return nil
}

// done returns the figures of a run that ends now.
func (m *meter) done(now policy.Time) *Figures {
	for _, since := range m.wanted {
		if since < now-now/4 {
			m.figures.Waiting++
		}
	}
	slices.Sort(m.figures.Obtaining)
	return &m.figures
}
