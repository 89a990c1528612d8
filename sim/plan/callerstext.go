package plan

import (
	"fmt"
	"io"
	"strings"

	"github.com/wanderd/wanderd/policy/wander"
)

// warn adds what the operator probably does not want.
func (a *CallersResult) warn() {
	w := &a.Request
	warn := func(format string, args ...any) { a.Warnings = append(a.Warnings, fmt.Sprintf(format, args...)) }
	switch {
	case !a.Met:
		warn("the load is %.2f, and above 1 callers come faster than they are served: half of them wait for more than "+
			"%s", a.Load, number(a.Expected.Wait.P50))
	case a.Load > crowdedLoad:
		warn("the load is %.2f: the nearer to 1, the longer the queues", a.Load)
	}
	if skip, trip := w.skip(), 2*w.latency(); wander.TooShort(skip, trip) {
		warn("a skip of %s is too short for round trips of %s: handoffs, and the recovery from a loss, wait for "+
			"them; the least that fits is %s", written(skip), written(trip), written(wander.LeastSkip(trip)))
	}
}

// Text writes the result for people.
func (a *CallersResult) Text(out io.Writer) error {
	var p page
	w := &a.Request
	p.line("%d members, callers at each %s after its last run, runs of %s: that %s be met.", w.Members,
		written(w.Demand), written(w.Op), or(a.Met, "can", "CANNOT"))
	for _, warning := range a.Warnings {
		p.line("")
		p.paragraph("", "Warning: %s.", warning)
	}
	if !a.Met && a.EnoughSlots > 0 {
		p.line("\nThis would do, the rest as it is:\n  more slots: %d instead of %d", a.EnoughSlots, w.slots())
	}
	p.line("\n%s", or(a.Met, "What to set", "What comes nearest"))
	for setting := range strings.Lines(a.TOML) {
		p.line("  %s", strings.TrimSuffix(setting, "\n"))
	}
	p.line("\n  or  %s\n", flags(a.Command))
	a.expectation(&p)
	a.whatIf(&p)
	a.reading(&p)
	_, err := io.WriteString(out, p.String())
	return err
}

func (a *CallersResult) expectation(p *page) {
	w, e, t := &a.Request, &a.Expected, &a.Traffic
	several := w.slots() > 1
	p.line("What to expect, in the long run")
	p.row("load", fmt.Sprintf("%.2f", a.Load), "(op + handoff) × members / %s",
		or(several, "((demand + op) × slots)", "(demand + op)"))
	p.row("capacity", fmt.Sprintf("%.4g /h", a.Capacity), "runs, each with a handoff%s",
		or(several, ", on all slots together", ""))
	p.row("busy", percent(float64(e.Busy)), "of the time %s", or(several, "each token is in use", "somebody runs"))
	p.row("overlap", percent(float64(e.Overlap)), "of the time %s",
		or(several, fmt.Sprintf("more than %d run", w.slots()), "two or more run"))
	p.line("\n%s", columns("", "mean", "half of them", "90 %", "99 %", "longest seen"))
	p.spread("wait of a caller", e.Wait)
	p.line("\nWhat it costs the network")
	p.row("datagrams", fmt.Sprintf("%.3g a run", float64(e.PerRun)), "sent in the whole fleet; %s on average",
		perSecond(t.FleetDatagrams, "/s"))
	p.row("at rest", fmt.Sprint(a.AtRest), "while nobody waits: holder and homes are silent")
	p.row("bytes", perSecond(t.FleetBytes, "B/s"), "in the whole fleet, %v a datagram with its headers; by each "+
		"member %s", t.DatagramBytes, perSecond(t.MemberBytes, "B/s"))
	p.row("gossip", "~ "+perSecond(t.GossipBytes, "B/s"),
		"by each member besides; an estimate, once for all gates of a fleet")
}

func (a *CallersResult) whatIf(p *page) {
	const indent = "    "
	p.line("\nWhat if\n  nobody else waits:")
	p.paragraph(indent, "a caller waits for two and a half round trips, %s with the given latency.", spoken(a.Alone))
	after := func(who string, q *Quantiles) {
		p.line("  %s", who)
		if q.Longest != q.Longest {
			p.paragraph(indent, "nobody is left who could call.")
			return
		}
		p.paragraph(indent, "the next caller waits for %s (longest seen: %s).", number(q.P50), number(q.Longest))
	}
	after("the host at which the token rests loses its power:", &a.Holder)
	after("the first home does:", &a.FirstHome)
	after("that host and all homes do, at once:", &a.HolderAndHomes)
	p.line("  there are twice the members:")
	b := &a.Twice
	p.paragraph(indent, "load %.2f, %s busy; half of the callers wait for more than %s, one in a hundred for more "+
		"than %s; %.3g datagrams a run.", b.Load, percent(float64(b.Busy)), number(b.Wait.P50), number(b.Wait.P99),
		float64(b.PerRun))
}

func (a *CallersResult) reading(p *page) {
	w, e := &a.Request, &a.Expected
	p.line("\nHow to read this")
	p.paragraph("", "The token rests where it was last used. A caller's member asks a home, which knows where that is "+
		"and who else waits; the oldest wait is served first. With min_interval 0, which is the default without a "+
		"hook, a member may run again at once.")
	p.line("")
	p.paragraph("", "The figures are measured: %d simulated fleets of %d members, %s in all, %d runs, with the code "+
		"that an agent runs (%d fleets of twice the members, %s, %d runs), and %d losses of each kind. A run takes "+
		"between half of op and one and a half, a datagram %s, and %s of them get lost. The time from a run to the "+
		"next caller is exponential.", e.Simulated.Seeds, e.Members, spoken(e.Simulated.Duration),
		e.Simulated.Operations, a.Twice.Simulated.Seeds, spoken(a.Twice.Simulated.Duration),
		a.Twice.Simulated.Operations, callersLost, written(w.latency()), percent(w.Loss))
}

// toml returns the constants as part of a configuration file.
func (w *CallersRequest) toml() string {
	line := func(key string, value any, comment string) string {
		return fmt.Sprintf("%-28s # %s\n", fmt.Sprintf("%s = %#v", key, value), comment)
	}
	return line("policy", "call", "the token comes when it is called") +
		line("skip", written(w.skip()), "a holder that is silent for so long is suspected") +
		line("backups", w.Backups, "how many homes guard the token") +
		slotsLine(line, w.slots(), w.SlotsShare)
}

func (w *CallersRequest) command() string {
	return fmt.Sprintf("wanderd --policy call --skip %s --backups %d", written(w.skip()), w.Backups) +
		slotsFlag(w.slots(), w.SlotsShare)
}
