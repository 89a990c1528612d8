package demo

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// record is the history of the fleet so far. The agents' loops write it, the screen reads it.
type record struct {
	mu      sync.Mutex
	begin   time.Time
	members []member
	// events are lines with the time since begin.
	events []string
	// holder is the index of the member that holds the token, or -1 if none does.
	holder int
	// running counts the running hooks; overlap is the total time with two or more.
	running      int
	overlapSince time.Time
	overlap      time.Duration
	// made, revived and removed count tokens.
	made, revived, removed int
	// underway are the tokens that one member has passed and no other has received yet.
	underway map[wire.TokenID]time.Time
}

type member struct {
	name string
	// hands is how many tokens the member holds: it gives up a second one at once.
	hands   int
	running bool
	lastRun time.Time
	runs    int
	failed  int
	longest time.Duration
}

func newRecord(names []string) *record {
	r := &record{begin: time.Now(), holder: -1, underway: make(map[wire.TokenID]time.Time)}
	for _, n := range names {
		r.members = append(r.members, member{name: n})
	}
	return r
}

// rows returns the members as rows, which the other views show, too.
func (r *record) rows() []follow.Row {
	rows := make([]follow.Row, 0, len(r.members))
	for i := range r.members {
		m := &r.members[i]
		rows = append(rows, follow.Row{
			Name: m.name, Holding: i == r.holder, Running: m.running, LastRun: m.lastRun, Runs: uint64(m.runs),
		})
	}
	return rows
}

// observe records an observation. The agents' loops call it.
func (r *record) observe(o gate.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.members, func(m member) bool { return m.name == o.Name })
	m := &r.members[i]
	switch {
	case o.Ended:
		r.ended(m, o)
	case o.Granted:
		r.started(m, o)
	case o.Cause != 0:
		r.moved(i, o)
	}
}

func (r *record) moved(i int, o gate.Observation) {
	m := &r.members[i]
	switch o.Cause {
	case policy.CauseMade:
		if r.made++; r.made == 1 {
			r.say(o.At, "%s makes the first token", m.name)
		} else {
			r.say(o.At, "%s regenerates the token", m.name)
		}
	case policy.CauseReceived:
		r.say(o.At, "token at %s", m.name)
	case policy.CauseRevived:
		r.revived++
		r.say(o.At, "%s revives the token, whose holder is lost", m.name)
	case policy.CausePassed:
		r.underway[o.Token.ID] = o.At
	case policy.CauseRemoved, policy.CauseMet, policy.CauseOvertaken:
		r.removed++
		r.say(o.At, "%s removes token %s", m.name, o.Token.ID)
	case policy.CauseKept, policy.CauseAsleep, policy.CauseDropped, policy.CauseYielded:
	}
	if o.Came {
		m.hands++
		r.holder = i
		delete(r.underway, o.Token.ID)
	} else if m.hands--; m.hands == 0 && r.holder == i {
		r.holder = -1
	}
}

func (r *record) started(m *member, o gate.Observation) {
	if m.runs > 0 {
		m.longest = max(m.longest, o.At.Sub(m.lastRun))
	}
	m.running, m.lastRun = true, o.At
	m.runs++
	r.running++
	if r.running == 2 {
		r.overlapSince = o.At
	}
	r.say(o.At, "%s runs (seq %d)", m.name, o.Token.Seq)
}

func (r *record) ended(m *member, o gate.Observation) {
	if r.running == 2 {
		r.overlap += o.At.Sub(r.overlapSince)
	}
	r.running--
	m.running = false
	switch took := o.Took.Round(time.Millisecond); {
	case o.Stopped:
		r.say(o.At, "%s is interrupted after %s", m.name, took)
	case o.Err != nil:
		m.failed++
		r.say(o.At, "%s failed after %s: %v", m.name, took, o.Err)
	default:
		r.say(o.At, "%s is done after %s", m.name, took)
	}
}

func (r *record) say(at time.Time, format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf("%7.2fs  ", at.Sub(r.begin).Seconds())+fmt.Sprintf(format, args...))
}

// lostAfter is the time after which a token in a handoff counts as lost: longer than any handoff takes.
const lostAfter = 2 * time.Second

func (r *record) summary(out io.Writer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	lost := 0
	for _, since := range r.underway {
		if now.Sub(since) > lostAfter {
			lost++
		}
	}
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	p("\n%-10s %5s %7s   %s\n", "member", "runs", "failed", "longest interval")
	for i := range r.members {
		m := &r.members[i]
		longest := "-"
		if m.longest > 0 {
			longest = m.longest.Round(10 * time.Millisecond).String()
		}
		p("%-10s %5d %7d   %s\n", m.name, m.runs, m.failed, longest)
	}
	p("\ntwo or more at once: %s of %s; tokens lost: %d, regenerated: %d, revived: %d, removed: %d\n",
		r.overlap.Round(time.Millisecond), now.Sub(r.begin).Round(100*time.Millisecond), lost, max(r.made-1, 0),
		r.revived, r.removed)
}
