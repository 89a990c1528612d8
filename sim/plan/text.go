package plan

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// textWidth is the greatest number of columns of a paragraph.
const textWidth = 90

// page is a text for people. Lines end where they are written; paragraphs are wrapped.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// paragraph writes one or several lines of words, each indented.
func (p *page) paragraph(indent, format string, args ...any) {
	p.WriteString(wrap(indent+fmt.Sprintf(format, args...)) + "\n")
}

func (p *page) row(name, figure, format string, args ...any) {
	p.line("  %-13s %15s  "+format, append([]any{name, figure}, args...)...)
}

func (p *page) spread(name string, q Quantiles) {
	p.line("%s", columns(name, number(q.Mean.Mean), number(q.P50), number(q.P90), number(q.P99), number(q.Longest)))
}

// Text writes the result for people: what to do first, then what to expect, and how to read it.
func (a *Result) Text(w io.Writer) error {
	var p page
	a.verdict(&p)
	a.settings(&p)
	a.expectation(&p)
	a.whatIf(&p)
	a.reading(&p)
	_, err := io.WriteString(w, p.String())
	return err
}

func or(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

func (a *Result) several() bool { return a.Constants.Slots > 1 }

func (a *Result) verdict(p *page) {
	p.line("%d members, each to run %s every %s: that %s be met.", a.Request.Members, written(a.Request.Op),
		written(a.Request.Every), or(a.Met, "can", "CANNOT"))
	if w := &a.Request; w.RebootTakes > 0 {
		p.line("")
		p.paragraph("", "Each run reboots its host, and the others wait until it is back: %s more. One that stays "+
			"away costs them %s. Below, op has both, and %s of the hosts stay away.",
			written(w.RebootTakes), written(a.Constants.Keep), percent(w.RebootFails))
	}
	if w := &a.Request; w.Soak > 0 {
		p.line("")
		p.paragraph("", "Each run is followed by a soak of %s. Below, op has both.", written(w.Soak))
	}
	if a.Zones != nil {
		p.line("")
		p.paragraph("", "%s", a.Zones.text(&a.Request))
	}
	for _, warning := range a.Warnings {
		p.line("")
		p.paragraph("", "Warning: %s.", warning)
	}
	if len(a.Changes) > 0 {
		p.line("\nAny one of these would do, the rest as it is:")
		for _, change := range a.Changes {
			p.line("  %v", change)
		}
	}
}

func (a *Result) settings(p *page) {
	p.line("\n%s", or(a.Met, "What to set", "What comes nearest"))
	for setting := range strings.Lines(strings.TrimSpace(a.TOML)) {
		p.line("  %s", strings.TrimSuffix(setting, "\n"))
	}
	p.line("\n  or  %s\n", flags(a.Command))
	if a.Nights == nil {
		return
	}
	p.line("In its windows")
	for _, window := range a.Nights.Windows {
		p.line("  %s", window)
	}
	p.paragraph("  ", "%s", a.Nights.text())
	p.line("")
}

func (a *Result) expectation(p *page) {
	k, e, t := &a.Constants, &a.Expected, &a.Traffic
	p.line("What to expect, in the long run%s", or(a.Nights != nil, ", without windows", ""))
	p.row("load", fmt.Sprintf("%.2f", a.Load), "op × members / %s; by min_interval it is %.2f",
		or(a.several(), "(every × slots)", "every"), a.LoadInForce)
	p.row("busy", share(e.Busy), "of the time %s%s", or(a.several(), "each token is in use", "somebody runs"),
		or(e.FromTheory, ", in theory", "; in theory "+percent(e.Theory.Busy)))
	p.row("overlap", share(e.Overlap), "of the time %s",
		or(a.several(), fmt.Sprintf("more than %d run", k.Slots), "two or more run"))
	p.row("false alarms", rate(e.FalseAlarms), "tokens made or revived although there is one, and removed again")
	p.line("\n%s", columns("", "mean", "half of them", "90 %", "99 %", "longest seen"))
	p.spread("wait for the token", e.Wait)
	p.spread("between two runs", e.Interval)
	p.line("\nWhat it costs the network")
	p.row("datagrams", perSecond(t.FleetDatagrams, "/s"), "sent in the whole fleet; by each member %s",
		perSecond(t.MemberDatagrams, "/s"))
	p.row("bytes", perSecond(t.FleetBytes, "B/s"), "in the whole fleet, %v a datagram with its headers; by each "+
		"member %s", t.DatagramBytes, perSecond(t.MemberBytes, "B/s"))
	p.row("gossip", "~ "+perSecond(t.GossipBytes, "B/s"),
		"by each member besides; an estimate, once for all gates of a fleet")
}

func (a *Result) whatIf(p *page) {
	const indent = "    "
	p.line("\nWhat if\n  all members start at once:")
	p.paragraph(indent, "the first round takes at least %s, %s.", spoken(a.FirstRound),
		or(a.several(), fmt.Sprintf("%d runs at once", a.Constants.Slots), "one run after the other"))
	if z := a.Zones; z != nil {
		p.paragraph(indent, "With its zones it takes %s or more, and at worst %s, but for the walk of the tokens.",
			spoken(z.Least), spoken(z.Most))
	}
	if a.Rollout != nil {
		p.line("  a release comes that all members need:")
		p.paragraph(indent, "%s", a.Rollout.text(&a.Request))
		if a.Request.FailsEvery > 0 {
			p.paragraph(indent, "%s", a.Rollout.cost(&a.Request))
		}
	}
	p.line("  the holder%s is killed:", or(a.several(), " of a token", ""))
	p.paragraph(indent, "%s for %s.", or(a.several(), "one token less, and one run less at once,",
		"no token, and no run,"), a.afterLoss())
	p.line("  there are twice the members:")
	b := &a.Twice
	measured := ""
	if !b.FromTheory {
		measured = fmt.Sprintf(" (99 %% within %s), overlap %s", number(b.Interval.P99), share(b.Overlap))
	}
	p.paragraph(indent, "%sload %.2f by min_interval, %s busy, a run every %s%s.", or(b.FromTheory, "in theory, ", ""),
		b.Load, share(b.Busy),
		number(b.Interval.Mean.Mean), measured)
}

// afterLoss describes for how long a token is missing after a loss, and what happens then.
func (a *Result) afterLoss() string {
	k, l := &a.Constants, &a.Loss
	most := written(k.MaxInterval)
	text := "up to max_interval, " + most
	switch {
	case l.Samples > 0:
		text = fmt.Sprintf("%s (longest of %d losses: %s)", number(l.Silence), l.Samples, number(l.LongestSilence))
	case k.Backups > 0:
		text = "about " + spoken(patiencesToRevive*patience(k).Seconds())
	}
	if k.Backups > 0 {
		text += "; then a guardian revives it"
		if l.Crowd > k.Slots {
			text += fmt.Sprintf(", and up to %d run at once", l.Crowd)
		}
		return text + ". If all its guardians are killed with it, for up to max_interval, " + most
	}
	if l.Samples == 0 {
		return text
	}
	if l.Crowd > k.Slots {
		text += fmt.Sprintf("; then several members make a new one, and up to %d run at once", l.Crowd)
	}
	if l.Recovered == 0 {
		text += "; none was watched to the end of that"
	} else {
		text += fmt.Sprintf("; %s after the loss there is one token%s again", number(l.Recovery),
			or(a.several(), " for each slot", ""))
		if l.Recovered < l.Samples {
			text += fmt.Sprintf(" (%d of the %d; the others were not watched to the end)", l.Recovered, l.Samples)
		}
	}
	if l.ShortestMaxInterval < 0.9*k.MaxInterval.Seconds() {
		text += fmt.Sprintf(". A max_interval of %s would make the silence shorter, and in theory give no more than "+
			"about one false alarm every %s",
			written(seconds(l.ShortestMaxInterval)), written(a.Request.Every))
	}
	return text
}

func (a *Result) reading(p *page) {
	k, e := &a.Constants, &a.Expected
	p.line("\nHow to read this")
	why := "min_interval is every itself, so that at least nobody runs more often than wished"
	switch {
	case k.MinInterval < a.Request.Every:
		why = "That is why min_interval is every less the mean wait"
	case a.Met:
		why = "That is why min_interval is every itself"
	}
	p.paragraph("", "A member is due min_interval after the start of its last run, and then waits until %s token "+
		"comes by. %s %s: runs are every %s on average, "+
		"and never closer than min_interval.", or(a.several(), "a", "the"), a.walking(), why,
		number(e.Interval.Mean.Mean))
	p.line("")
	if e.Simulated.Seeds == 0 {
		p.paragraph("", "The figures are from theory: to simulate so many members with this walk, or so long an "+
			"every, would take too long.")
		return
	}
	if e.FromTheory {
		p.paragraph("",
			"The share of busy time and the times are from theory: the simulation was too short for so long an every.")
	}
	twice := ""
	if b := &a.Twice.Simulated; b.Seeds > 0 {
		twice = fmt.Sprintf(" (%d fleets of twice the members, %s, %d runs)", b.Seeds, spoken(b.Duration), b.Operations)
	}
	p.paragraph("", "The figures are measured: %d simulated fleets of %d members, %s in all, %d runs, with the code "+
		"that an agent runs%s. %s± is where the "+
		"mean lies with 95 %% confidence. A run takes between half of op and one and a half, a datagram %s, and %s "+
		"of them get lost. %s.",
		e.Simulated.Seeds, e.Members, spoken(e.Simulated.Duration), e.Simulated.Operations, twice,
		or(k.Backups > 0 && !watched(&a.Request, k), "They are without guardians, who have nothing to do while "+
			"nothing is lost; what these send is computed. ", ""),
		written(a.Request.latency()), percent(a.Request.Loss),
		or(k.Walk == wander.Sweep, "Members take their turns as in a fleet that has started all at once",
			"Members' turns are spread evenly, as they are long after a start"))
}

// walking describes how a token moves among the members.
func (a *Result) walking() string {
	k, lap := &a.Constants, spoken(a.Expected.Theory.Lap)
	switch {
	case k.Walk == wander.Random && a.several():
		return "The tokens walk at random, each of them everywhere: a member may wait several times as long for the " +
			"first of them as it does on average, " +
			"and it takes about " + lap + " until everybody has seen one."
	case k.Walk == wander.Random:
		return "The token walks at random: that takes as many hops as there are members on average, but sometimes " +
			"several times as many, and about " + lap +
			" until the token has been with everybody."
	case k.Walk == wander.Shuffle && a.several():
		return "Each token visits everybody once in a lap, which takes about " + lap +
			", in a fresh order each time, and a member runs under the first that comes."
	case k.Walk == wander.Shuffle:
		return "The token visits everybody once in a lap, which takes about " + lap +
			", in a fresh order each time: that is little more than half a lap on " +
			"average, and never more than two."
	}
	round := "The token goes round in one order, a lap in about " + lap
	if a.several() {
		round = fmt.Sprintf("The %d tokens share the members: each goes round its own part of them in one order, a "+
			"lap in about %s", k.Slots, lap)
	}
	return round + ", and a member that will be due within a lap of skips keeps it until then. So the members soon " +
		"become due in the order in which it " +
		"comes, and hardly anybody waits for long but those who have just joined."
}

func columns(name string, cells ...any) string {
	return fmt.Sprintf("  %-19s"+strings.Repeat(" %12s", len(cells)), append([]any{name}, cells...)...)
}

// flags returns a command line, on several lines if it is long.
func flags(command string) string {
	var lines []string
	for i, flag := range strings.Split(command, " --") {
		last := len(lines) - 1
		switch {
		case i == 0:
			lines = append(lines, flag)
		case len("  or  ")+len(lines[last])+len("--")+len(flag) > textWidth:
			lines = append(lines, "  --"+flag)
		default:
			lines[last] += " --" + flag
		}
	}
	return strings.Join(lines, " \\\n      ")
}

// wrap breaks a paragraph into lines, each indented like the first one.
func wrap(text string) string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > textWidth {
			lines.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return lines.String() + line
}

func number(n measure.Number) string { return spoken(float64(n)) }

// percent formats a share with three digits, but no finer than a hundredth of a percent.
func percent(s float64) string {
	p := 100 * s
	switch {
	case math.IsNaN(p):
		return "–"
	case p > 0 && p < 0.01:
		return "< 0.01 %"
	case p < 1:
		return fmt.Sprintf("%.2g %%", p)
	}
	return fmt.Sprintf("%.3g %%", p)
}

// share formats a share with its confidence.
func share(e measure.Estimate) string {
	half := float64(e.Half)
	if float64(e.Mean) == 0 || math.IsNaN(half) || half < 0.0005 {
		return percent(float64(e.Mean))
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*float64(e.Mean), 100*half)
}

// rate formats how often something happens.
func rate(perDay measure.Estimate) string {
	switch n := float64(perDay.Mean); {
	case math.IsNaN(n):
		return "–"
	case n == 0:
		return "none seen"
	case n >= 1:
		return fmt.Sprintf("%.2g a day", n)
	default:
		return "one in " + spoken(secondsPerDay/n)
	}
}

// perSecond formats a rate. If it is less than one in a hundred seconds, it is given by the hour.
func perSecond(n float64, unit string) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.3g M%s", n/1e6, unit)
	case n >= 1e3:
		return fmt.Sprintf("%.3g k%s", n/1e3, unit)
	case n >= 100:
		return fmt.Sprintf("%.0f %s", n, unit)
	case n < 0.01:
		return fmt.Sprintf("%.2g %s", 3600*n, strings.TrimSuffix(unit, "s")+"h")
	}
	return fmt.Sprintf("%.2g %s", n, unit)
}
