package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// custody records which members were at work, and when: who held a token, by the agents' logs, and whose hook ran, by
// the journal.
type custody struct {
	t     testing.TB
	tails map[string]*tail
	// since is when each present holder took its token.
	since map[string]time.Time
	held  []span
	// said is what all logs have reported of the token since the last call of tell.
	said []saying
}

// saying is a line of a log that reports what happened to a token.
type saying struct {
	Time             time.Time
	Note, Name, Peer string
	Token            string
	Seq              uint64
}

// span is a time during which a member was at work.
type span struct {
	name     string
	from, to time.Time
}

func newCustody(f *fleet) *custody {
	c := &custody{t: f.t, tails: make(map[string]*tail), since: make(map[string]time.Time)}
	for _, n := range f.nodes {
		c.tails[n.name] = &tail{path: n.log}
	}
	return c
}

// afterNote has, for every note that begins or ends custody of a token, whether its member holds one afterwards. A
// member at which two tokens meet holds one before and after. Arrived comes before what becomes of the token.
var afterNote = map[string]bool{
	"minted":      true,
	"regenerated": true,
	"arrived":     true,
	"revived":     true,
	"passed":      false,
	"removed":     false,
	"overtaken":   false,
	"gave_up":     false,
	"dropped":     false,
	"left":        false,
}

// read takes in the new lines of a member's log.
func (c *custody) read(n *node) {
	for _, line := range c.tails[n.name].lines(c.t) {
		var said saying
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			c.t.Fatalf("%s logs %q: %v", n.name, line, err)
		}
		if said.Note != "" {
			said.Name = n.name
			c.said = append(c.said, said)
		}
		holds, changes := afterNote[said.Note]
		_, held := c.since[n.name]
		switch {
		case !changes || holds == held:
		case holds:
			c.since[n.name] = said.Time
		default:
			c.end(n, said.Time)
		}
	}
}

// end ends the custody of a member that holds a token.
func (c *custody) end(n *node, at time.Time) {
	if from, ok := c.since[n.name]; ok {
		c.held = append(c.held, span{name: n.name, from: from, to: at})
		delete(c.since, n.name)
	}
}

// atWork returns what is known so far of the members that held a token or ran their hook after the given time. A log
// has milliseconds; so do the spans, so that a span that ends before the next begins does not seem to end after it.
func (c *custody) atWork(f *fleet, after, now time.Time) []span {
	for _, n := range f.nodes {
		c.read(n)
	}
	all := slices.Clone(c.held)
	for name, from := range c.since {
		all = append(all, span{name: name, from: from, to: now})
	}
	for _, r := range f.runs() {
		if r.end.IsZero() {
			r.end = now
		}
		all = append(all, span{
			name: r.name, from: r.start.Truncate(time.Millisecond), to: r.end.Truncate(time.Millisecond),
		})
	}
	return slices.DeleteFunc(all, func(s span) bool { return s.to.Before(after) })
}

// tell returns what the logs have reported of the token since the last call, up to now, in the order of time.
func (c *custody) tell(from, to time.Time) string {
	slices.SortStableFunc(c.said, func(a, b saying) int { return a.Time.Compare(b.Time) })
	var text strings.Builder
	for _, s := range c.said {
		if s.Time.Before(from) || s.Time.After(to) {
			continue
		}
		fmt.Fprintf(&text, "%s %-3s %-12s %-3s %s#%d\n", s.Time.Format("15:04:05.000"), s.Name, s.Note, s.Peer, s.Token,
			s.Seq)
	}
	c.said = c.said[:0]
	return text.String()
}

// longestTogether returns the longest unbroken time after the given time in which two or more members were at work.
func longestTogether(spans []span, after time.Time) time.Duration {
	type turn struct {
		at    time.Time
		name  string
		delta int
	}
	var turns []turn
	for _, s := range spans {
		if s.from.Before(after) {
			s.from = after
		}
		if s.from.Before(s.to) {
			turns = append(turns, turn{s.from, s.name, 1}, turn{s.to, s.name, -1})
		}
	}
	// At one instant, ends come first.
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.delta, b.delta)) })
	busy := make(map[string]int)
	var since time.Time
	var longest time.Duration
	for _, turn := range turns {
		before := len(busy)
		if busy[turn.name] += turn.delta; busy[turn.name] == 0 {
			delete(busy, turn.name)
		}
		switch {
		case before < 2 && len(busy) >= 2:
			since = turn.at
		case before >= 2 && len(busy) < 2:
			longest = max(longest, turn.at.Sub(since))
		}
	}
	return longest
}

func TestTwoAreAtWorkTogetherAsLongAsTheirSpansOverlap(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	for name, tc := range map[string]struct {
		spans []span
		after int
		want  time.Duration
	}{
		"one after the other":       {spans: []span{{"a", at(0), at(2)}, {"b", at(2), at(4)}}},
		"one member, twice at once": {spans: []span{{"a", at(0), at(3)}, {"a", at(1), at(2)}}},
		"two":                       {spans: []span{{"a", at(0), at(3)}, {"b", at(1), at(5)}}, want: 2 * time.Second},
		"two, and two others": {
			spans: []span{{"a", at(0), at(9)}, {"b", at(1), at(3)}, {"c", at(5), at(8)}}, want: 3 * time.Second,
		},
		"three in a chain": {
			spans: []span{{"a", at(0), at(3)}, {"b", at(2), at(6)}, {"c", at(5), at(8)}}, want: time.Second,
		},
		"only what lies after": {
			spans: []span{{"a", at(0), at(9)}, {"b", at(0), at(9)}}, after: 5, want: 4 * time.Second,
		},
	} {
		if got := longestTogether(tc.spans, at(tc.after)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
