package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// fleetText writes the status of a fleet for people: first what is wrong, then a table for each gate.
func fleetText(f *control.Fleet, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d answered within %s\n", count(uint64(len(f.Members)), "member"),
		len(f.Members)-follow.Silent(f), f.Took)
	for i := range f.Members {
		writeMissing(&b, &f.Members[i].Member, f.Members[i].Missing)
	}
	for _, gate := range follow.Gates(f) {
		b.WriteByte('\n')
		writeFleetGate(&b, f, gate, now)
	}
	return b.String()
}

// onlyGateOfFleet keeps one gate in the status of a fleet, or all if none is named. Members without the gate stay,
// because they have answered.
func onlyGateOfFleet(f *control.Fleet, gate string) {
	if gate == "" {
		return
	}
	f.Tokens = slices.DeleteFunc(f.Tokens, func(h control.Holder) bool { return h.Gate != gate })
	for i := range f.Members {
		if s := f.Members[i].Status; s != nil {
			s.Gates = slices.DeleteFunc(s.Gates, func(g control.Gate) bool { return g.Name != gate })
		}
	}
}

// writeMissing names a member that has not answered.
func writeMissing(b *strings.Builder, m *control.Member, why string) {
	if why != "" {
		fmt.Fprintf(b, "missing: %s (%s) at %s: %s\n", printable(m.Name), short(m.Member), printable(m.Address),
			printable(why))
	}
}

func writeFleetGate(b *strings.Builder, f *control.Fleet, gate string, now time.Time) {
	fmt.Fprintf(b, "gate %s\n", printable(gate))
	line := func(name, text string) { fmt.Fprintf(b, "  %-12s %s\n", name, text) }
	tokens := slices.DeleteFunc(slices.Clone(f.Tokens), func(h control.Holder) bool { return h.Gate != gate })
	for _, h := range tokens {
		name := "holder"
		if len(tokens) > 1 {
			name = fmt.Sprintf("slot %d", h.Slot)
		}
		line(name, holderText(&h, now))
	}
	line("runs now", runnersText(tokens, now))
	rows := follow.Rows(f, gate)
	for i := range rows {
		if g := rows[i].Gate; g != nil && g.WaitsFor != "" {
			line("waits", printable(rows[i].Name)+": "+waitsText(&g.Together, now))
		}
	}
	if homes := follow.Homes(rows); len(homes) > 0 {
		writeHomes(line, homes, now)
		line("waiting", waitingText(rows, now))
	}
	away := follow.Away(rows)
	for i := range away {
		line("away", keptText(&away[i], now))
	}
	if r := follow.LastFailure(rows); r != nil {
		line("failed last", fmt.Sprintf("%s, %s, after %s: %s", printable(r.Name), ago(r.LastRun, now), format(r.Took),
			printable(r.Result)))
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "  NAME\tLAST RUN\tTOOK\tRESULT\tNEXT RUN\tNOW")
	for i := range rows {
		r := &rows[i]
		if r.Gate == nil {
			continue
		}
		name := printable(r.Name)
		if r.Self {
			name += " (this host)"
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\n", name, strings.Join(rowText(r, now), "\t"))
	}
	_ = t.Flush()
}

// waitsText describes what a run that has its token waits for.
func waitsText(t *control.Together, now time.Time) string {
	text := "waits for gate " + printable(t.WaitsFor)
	if t.WaitsZone != "" {
		text = "zone " + printable(t.WaitsZone) + " is busy"
	}
	return text + ", " + since(t.WaitsSince, now)
}

// writeHomes writes the homes of each token that is called.
func writeHomes(line func(name, text string), homes []follow.Home, now time.Time) {
	for several := homes[len(homes)-1].Slot > 0; len(homes) > 0; {
		slot := homes[0].Slot
		n := slices.IndexFunc(homes, func(h follow.Home) bool { return h.Slot != slot })
		if n < 0 {
			n = len(homes)
		}
		name := "homes"
		if several {
			name = fmt.Sprintf("homes %d", slot)
		}
		line(name, homesText(homes[:n], now))
		homes = homes[n:]
	}
}

// rowText returns the line of a member in the table of a gate, after its name.
func rowText(r *follow.Row, now time.Time) []string {
	last, took, result, next := "never", "-", "-", "-"
	if !r.LastRun.IsZero() {
		last = clock(r.LastRun, now)
	}
	if r.Result != "" {
		took, result = format(r.Took), printable(r.Result)
	}
	switch {
	case r.NextRun.After(now):
		next = "in " + rough(r.NextRun.Sub(now))
	case r.Awaits:
		next = "with the token"
	}
	doing := whyNot(r.Gate, now)
	if r.Kept != nil && r.Kept.State != "" {
		doing = printable(r.Kept.State)
	}
	switch {
	case r.Running && r.Care != nil:
		doing = careText(r.Care, now)
	case r.Running:
		doing = "runs " + since(r.RunningSince, now)
	case r.Gate.Running: // since it reported the run, the token has been seen elsewhere, or at rest
		doing = "has run"
	}
	return []string{last, took, result, next, doing}
}

func gateOf(s *control.Status, gate string) *control.Gate {
	if s == nil {
		return nil
	}
	return find(s.Gates, func(g *control.Gate) bool { return g.Name == gate })
}

func holderText(h *control.Holder, now time.Time) string {
	who := fmt.Sprintf("%s (%s)", printable(h.Name), short(h.Member))
	if h.Missing != "" && h.Member == "" {
		return "not known: " + printable(h.Missing)
	}
	if h.Missing != "" {
		return fmt.Sprintf("not known: %s, the last known holder, %s", who, printable(h.Missing))
	}
	return fmt.Sprintf("%s, %s, number %d", who, since(h.Since, now), h.Seq)
}

func runnersText(tokens []control.Holder, now time.Time) string {
	var runners []string
	unknown := len(tokens) == 0
	for i := range tokens {
		h := &tokens[i]
		unknown = unknown || h.Missing != ""
		if !h.Running {
			continue
		}
		text := printable(h.Name)
		if h.Command != "" {
			text += ": " + printable(h.Command)
		}
		runners = append(runners, text+", "+since(h.RunningSince, now))
	}
	switch {
	case len(runners) > 0:
		return strings.Join(runners, "; ")
	case unknown:
		return "not known"
	}
	return "nobody"
}

// fleetHistoryText writes the history of a fleet for people: for each gate the runs of all hosts in the order in which
// they began.
func fleetHistoryText(h *control.FleetHistory, now time.Time) string {
	var b strings.Builder
	gates := make(map[string][]hostsRun)
	for i := range h.Members {
		m := &h.Members[i]
		writeMissing(&b, &m.Member, m.Missing)
		if m.History == nil {
			continue
		}
		for _, g := range m.History.Gates {
			gates[g.Name] = append(gates[g.Name], runsOf(m.Name, g.Runs)...)
			if g.Omitted > 0 {
				fmt.Fprintf(&b, "%s: %s of gate %s left out, because there are too many: use --since\n",
					printable(m.Name), count(uint64(g.Omitted), "older run"), printable(g.Name))
			}
		}
	}
	for _, gate := range slices.Sorted(maps.Keys(gates)) {
		runs := gates[gate]
		slices.SortStableFunc(runs, func(x, y hostsRun) int {
			return cmp.Or(x.run.Start.Compare(y.run.Start), cmp.Compare(x.run.Seq, y.run.Seq))
		})
		writeRuns(&b, gate, runs, now)
	}
	return b.String()
}
