package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// What commands say of a token that is called. Each member has only its own knowledge, so each text names whose it is,
// and how old.

// writeCalled writes whom this host calls, who waits, and this host's own wait.
func writeCalled(line func(name, format string, args ...any), self string, c *control.Called, now time.Time) {
	if c == nil {
		return
	}
	var homes []string
	for _, h := range c.Homes {
		name := printable(h.Name)
		if h.Member == self {
			name = "this host"
		}
		homes = append(homes, name)
	}
	line("homes", "%s", cmp.Or(strings.Join(homes, ", "), "not known: no member is seen yet"))
	line("waiters", "%s", queueText(c, self, now))
	if !c.Since.IsZero() {
		line("calling", "%s; %s", since(c.Since, now), turnText(c.Turn, self, now))
	}
}

// queueText describes who waits, as far as this host knows. Only the first home is called by all.
func queueText(c *control.Called, self string, now time.Time) string {
	q := c.Queue
	switch {
	case q == nil:
		return "not known here; \"wanderd status --fleet\" asks the homes"
	case q.As == control.AsHome && len(c.Homes) > 0 && c.Homes[0].Member == self:
		if q.Waiters == 0 {
			return "none, as the first home knows"
		}
		return fmt.Sprintf("%d, as the first home knows: %s", q.Waiters, oldestText(q, now))
	case q.As == control.AsHome && len(c.Homes) > 0:
		first := printable(c.Homes[0].Name) + " is called first"
		if q.Waiters == 0 {
			return "none at this home; " + first
		}
		return fmt.Sprintf("%d at this home: %s; %s", q.Waiters, oldestText(q, now), first)
	case q.Waiters == 0:
		return fmt.Sprintf("none, as far as this %s was told", printable(q.As))
	}
	return fmt.Sprintf("%d or more, as far as this %s was told: %s", q.Waiters, printable(q.As), oldestText(q, now))
}

// mostNamed is how many of those that wait are named.
const mostNamed = 9

func oldestText(q *control.Queue, now time.Time) string {
	var b strings.Builder
	named := q.Oldest[:min(len(q.Oldest), mostNamed)]
	for i, w := range named {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s for %s", printable(w.Name), rough(now.Sub(w.Since)))
		if w.Silent {
			b.WriteString(" (does not answer)")
		}
	}
	if more := q.Waiters - len(named); more > 0 {
		return strings.TrimPrefix(fmt.Sprintf("%s, and %d more", b.String(), more), ", ")
	}
	return b.String()
}

// turnText says how many wait before this host.
func turnText(t *control.Turn, self string, now time.Time) string {
	switch {
	case t == nil:
		return "no home has answered yet"
	case t.Member == self:
		return beforeText(t.Before) + ", by its own queue"
	}
	return fmt.Sprintf("%s, as %s said %s", beforeText(t.Before), printable(t.Name), ago(t.At, now))
}

func beforeText(before int) string {
	if before == 0 {
		return "no host before this one"
	}
	return count(uint64(before), "host") + " before this one"
}

// writeOnCall writes the constants of a gate whose token is called.
func writeOnCall(line func(name, format string, args ...any), g control.Gate) {
	line("policy", "%s: the token stays where it was last used, and comes when it is called", printable(g.Policy))
	line("max_interval", "%s: if members do not answer, a new token is made after that time without one",
		format(g.MaxInterval))
	writeShare(line, g)
	line("backups", "%s for each token; on_lost %s", count(uint64(g.Backups), "home"), printable(g.OnLost))
}

// writeShare writes how many tokens are in use, if that follows the members.
func writeShare(line func(name, format string, args ...any), g control.Gate) {
	if g.SlotsShare > 0 {
		line("slots", "%d in use: %d%% of the members, when these have not changed for a minute", g.Slots, g.SlotsShare)
	}
}

// callsFor returns where the token is that this host calls, and what it knows of its call; nil if it calls none. If it
// calls several, it is the one that probably comes first.
func callsFor(g *control.Gate) (first *control.Whereabouts) {
	consider := func(w *control.Whereabouts) {
		c := w.Called
		if c == nil || c.Since.IsZero() {
			return
		}
		if first == nil || c.Turn != nil && (first.Called.Turn == nil || c.Turn.Before < first.Called.Turn.Before) {
			first = w
		}
	}
	if len(g.Tokens) == 0 {
		consider(&g.Whereabouts)
	}
	for i := range g.Tokens {
		consider(&g.Tokens[i].Whereabouts)
	}
	return first
}

// callText describes a call to the caller that waits for it.
func callText(w *control.Whereabouts, now time.Time) string {
	t := w.Called.Turn
	if t == nil {
		return "calling the token; no home has answered yet"
	}
	text := fmt.Sprintf("home %s does not know where the token is, and looks for it", printable(t.Name))
	if w.HolderName != "" {
		holder := printable(w.HolderName)
		text = holder + " has the token"
		if time.Duration(t.Held) >= time.Second {
			text = fmt.Sprintf("%s has had the token for %s or more", holder, rough(time.Duration(t.Held)))
		}
	}
	text += "; " + beforeText(t.Before)
	if age := now.Sub(t.At); age >= 2*time.Second {
		return fmt.Sprintf("%s said %s ago: %s", printable(t.Name), rough(age), text)
	}
	return text
}

// mostHomes is how many homes are named for each token; members with different views may name more.
const mostHomes = 6

// homesText names the homes of a token, with what each knows of those that wait, and who does not name them.
func homesText(homes []follow.Home, now time.Time) string {
	var list []string
	for i := range homes {
		h := &homes[i]
		if i == mostHomes {
			list = append(list, fmt.Sprintf("and %d more", len(homes)-mostHomes))
			break
		}
		var about []string
		switch {
		case h.Missing != "":
			about = append(about, printable(h.Missing))
		case h.Queue == nil:
			about = append(about, "keeps no queue")
		case h.Queue.Waiters == 0:
			about = append(about, "no waiters")
		case len(h.Queue.Oldest) == 0:
			about = append(about, count(uint64(h.Queue.Waiters), "waiter"))
		default:
			about = append(about, fmt.Sprintf("%s, the first for %s", count(uint64(h.Queue.Waiters), "waiter"),
				rough(now.Sub(h.Queue.Oldest[0].Since))))
		}
		if h.Named < h.Of {
			about = append(about, fmt.Sprintf("a home for %d of %d members", h.Named, h.Of))
		}
		list = append(list, fmt.Sprintf("%s (%s)", printable(h.Name), strings.Join(about, "; ")))
	}
	return strings.Join(list, ", ")
}

// waitingText names the members that wait, as they say themselves, those that have waited longest first.
func waitingText(rows []follow.Row, now time.Time) string {
	waiting := follow.Waiting(rows, now)
	if len(waiting) == 0 {
		return "nobody"
	}
	var list []string
	for i, r := range waiting {
		if i == mostNamed {
			list = append(list, fmt.Sprintf("and %d more", len(waiting)-mostNamed))
			break
		}
		text := printable(r.Name)
		if !r.DueSince.IsZero() {
			text += " for " + rough(now.Sub(r.DueSince))
		}
		list = append(list, text)
	}
	return fmt.Sprintf("%s: %s", count(uint64(len(waiting)), "host"), strings.Join(list, ", "))
}
