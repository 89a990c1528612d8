package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// keptText describes a grant that outlives its host.
func keptText(k *control.Kept, now time.Time) string {
	until := "the others wait for it until " + clock(k.Until, now)
	switch name := printable(k.Name); {
	case k.Self:
		return fmt.Sprintf("the grant of this host: %s; %s, and longer while it is heard",
			printable(cmp.Or(k.State, "it outlives the host")), until)
	case k.IsAway():
		return fmt.Sprintf("%s is away %s; %s", name, since(k.AwaySince, now), until)
	case !k.BackSince.IsZero():
		return fmt.Sprintf("%s is back %s, and has not handed its grant back yet; it was away for %s", name,
			since(k.BackSince, now), rough(k.BackSince.Sub(k.AwaySince)))
	default:
		return fmt.Sprintf("the grant of %s outlives its host; %s, and longer while it is heard", name, until)
	}
}

// callerText names a caller's command, and its process if it has one on this host.
func callerText(c *control.Caller) string {
	if c.PID == 0 {
		return printable(c.Command)
	}
	return fmt.Sprintf("%s (%d)", printable(c.Command), c.PID)
}

// writeAround writes what a run holds besides its token, and what follows it.
func writeAround(line func(name, format string, args ...any), g *control.Gate, now time.Time) {
	also := slices.Clone(g.With)
	if g.Zone != "" {
		also = append(also, g.Zone)
	}
	if len(also) > 0 {
		line("with", "each run also holds %s", printable(strings.Join(also, ", ")))
	}
	if g.ZoneOf != "" {
		line("zone", "of this host; each run of gate %s here holds it", printable(g.ZoneOf))
	}
	writeCare(line, g.Care, now)
}

// writeCare writes how this host is looked after once its operation has succeeded.
func writeCare(line func(name, format string, args ...any), c *control.Care, now time.Time) {
	if c == nil {
		return
	}
	line("succeeded", "%s; nobody else starts before that is over", careText(c, now))
}

// careText says what a host that is looked after waits for.
func careText(c *control.Care, now time.Time) string {
	var parts []string
	if c.SoakUntil.After(now) {
		parts = append(parts, fmt.Sprintf("soaking for another %s (until %s)", rough(c.SoakUntil.Sub(now)),
			clock(c.SoakUntil, now)))
	}
	switch {
	case c.Answer != "":
		parts = append(parts, fmt.Sprintf("after said, %s: %s", ago(c.At, now), printable(c.Answer)))
	case len(parts) == 0:
		parts = append(parts, "after is being asked")
	}
	return strings.Join(parts, "; ")
}

// writeStage writes in which stage of the gate this host is, and who holds it up.
func writeStage(line func(name, format string, args ...any), s *control.Stage) {
	if s == nil {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %d, %s", printable(s.Name), s.Of, printable(s.Standing))
	for i, h := range s.HeldBy {
		join := ", "
		if i == 0 {
			join = "; waits for "
		}
		fmt.Fprintf(&text, "%s%s (%s)", join, printable(h.Name), printable(h.Why))
	}
	if s.More > 0 {
		fmt.Fprintf(&text, ", and %d more", s.More)
	}
	line("stage", "%s", text.String())
}
