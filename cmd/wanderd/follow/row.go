package follow

import (
	"maps"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// Row is what all views show of a member of a gate: the table of "status --fleet", the screen of "status --watch", the
// page of "web", and the picture of "demo".
type Row struct {
	Name   string `json:"name"`
	Member string `json:"member,omitempty"`
	Self   bool   `json:"self,omitempty"`
	// Missing is why the member has not answered; then nothing else is known of it.
	Missing string `json:"missing,omitempty"`
	// Holding is true if the member has a token, Running if something runs there, since RunningSince.
	Holding      bool      `json:"holding,omitempty"`
	Running      bool      `json:"running,omitempty"`
	RunningSince time.Time `json:"-"`
	// Result is how the last run has ended, Took how long it took; both are empty if unknown. Failed is true if the run
	// has failed.
	LastRun time.Time        `json:"last_run,omitzero"`
	Result  string           `json:"result,omitempty"`
	Took    control.Duration `json:"-"`
	Failed  bool             `json:"failed,omitempty"`
	// Awaits is true if the member runs as soon as a token comes, but not before NextRun. NotRunning is why nothing
	// runs.
	NextRun    time.Time `json:"next_run,omitzero"`
	Awaits     bool      `json:"awaits,omitempty"`
	NotRunning string    `json:"not_running,omitempty"`
	// DueSince is since when the member has waited for the token; zero if it does not, or that is not known.
	DueSince time.Time `json:"due_since,omitzero"`
	// Runs counts the runs that have begun.
	Runs    uint64           `json:"-"`
	Paused  *control.Pause   `json:"paused,omitempty"`
	Callers []control.Caller `json:"callers,omitempty"`
	// Care is how the member is looked after once its operation has succeeded, and Kept its grant that outlives it; nil
	// if there is none.
	Care *control.Care `json:"care,omitempty"`
	Kept *control.Kept `json:"kept,omitempty"`
	// Gate is all that the member has reported of the gate; nil if the member has not answered.
	Gate *control.Gate `json:"-"`
}

// NewRow returns the row of a member that has reported the gate; g is nil if the member has not answered.
func NewRow(m *control.FleetMember, g *control.Gate) Row {
	r := Row{Name: m.Name, Member: m.Member.Member, Self: m.Self, Missing: m.Missing, Gate: g}
	if g == nil {
		return r
	}
	r.Running, r.RunningSince, r.Runs = g.Running, g.LastRun, g.Runs+g.Commands
	r.LastRun, r.Result, r.Took, r.Failed = g.LastRun, g.LastExit, g.LastTook, g.FailedLast()
	if c := g.LastCommand; r.Result == "" && g.OnDemand && c != nil {
		r.Result, r.Took = c.Command+": "+c.Exit, c.Took
	}
	r.NextRun, r.Awaits, r.NotRunning, r.Paused, r.Callers = g.NextRun, g.Awaits(), g.NotRunning, g.Paused, g.Callers
	r.DueSince, r.Care, r.Kept = g.DueSince, g.Care, Kept(g)
	for _, c := range g.CalledTokens() {
		if !c.Since.IsZero() {
			r.DueSince = c.Since // A call for a second caller begins after the turn of the first one.
		}
	}
	return r
}

// Gates returns the names of all gates that a member has reported, in order.
func Gates(f *control.Fleet) []string {
	names := make(map[string]bool)
	for i := range f.Members {
		if s := f.Members[i].Status; s != nil {
			for k := range s.Gates {
				names[s.Gates[k].Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Rows returns the members of a gate, and the members that have not answered, which may be members of it.
func Rows(f *control.Fleet, gate string) (rows []Row) {
	for i := range f.Members {
		m := &f.Members[i]
		var g *control.Gate
		if m.Status != nil {
			if k := slices.IndexFunc(m.Status.Gates, func(g control.Gate) bool { return g.Name == gate }); k >= 0 {
				g = &m.Status.Gates[k]
			}
		}
		if g != nil || m.Missing != "" {
			rows = append(rows, NewRow(m, g))
		}
	}
	return rows
}

// Rows returns the rows of a gate, updated with what has been seen of its tokens since all members were asked.
func (s *Snapshot) Rows(gate string) []Row {
	rows := Rows(s.Fleet, gate)
	for i := range s.Tokens {
		t := &s.Tokens[i]
		if t.Gate != gate || t.Missing != "" {
			continue
		}
		if k := slices.IndexFunc(rows, func(r Row) bool { return r.Member == t.Member }); k >= 0 {
			rows[k].Holding, rows[k].Running, rows[k].RunningSince = true, t.Running, t.RunningSince
		}
	}
	return rows
}

// Page is a fleet as rows, for a reader that has no other document.
type Page struct {
	Members int `json:"members"`
	// Silent counts the members that have not answered.
	Silent int        `json:"silent"`
	Gates  []GatePage `json:"gates"`
}

// GatePage is one gate of a page.
type GatePage struct {
	Name string `json:"name"`
	Rows []Row  `json:"rows"`
	// Homes are the homes of tokens that are called.
	Homes []Home `json:"homes,omitempty"`
	// Away are the hosts that are away under a grant that is kept, or are back, and have not handed it back.
	Away []control.Kept `json:"away,omitempty"`
}

// PageOf makes the page of a fleet.
func PageOf(f *control.Fleet) Page {
	p := Page{Members: len(f.Members), Silent: Silent(f), Gates: []GatePage{}}
	for _, gate := range Gates(f) {
		rows := Rows(f, gate)
		p.Gates = append(p.Gates, GatePage{gate, rows, Homes(rows), Away(rows)})
	}
	return p
}

// Silent counts the members that have not answered.
func Silent(f *control.Fleet) (n int) {
	for i := range f.Members {
		if f.Members[i].Status == nil {
			n++
		}
	}
	return n
}

// LastFailure returns the member whose last run has failed; if there are several, the one that failed last; nil if
// there is none.
func LastFailure(rows []Row) (last *Row) {
	for i := range rows {
		if r := &rows[i]; r.Failed && (last == nil || !r.LastRun.Before(last.LastRun)) {
			last = r
		}
	}
	return last
}

// Next returns the members that are due and wait for the token, and the first one that will be due.
func Next(rows []Row, now time.Time) (waiting []string, first *Row) {
	for _, r := range Waiting(rows, now) {
		waiting = append(waiting, r.Name)
	}
	for i := range rows {
		r := &rows[i]
		willBeDue := r.Gate != nil && !r.Gate.Running && r.NextRun.After(now)
		if willBeDue && (first == nil || r.NextRun.Before(first.NextRun)) {
			first = r
		}
	}
	return waiting, first
}
