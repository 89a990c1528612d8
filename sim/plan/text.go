package plan

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

// textWidth is how many columns paragraphs have at most.
const textWidth = 90

// Text writes the answer for people: what to do first, then what to expect, and how to read it.
func (a *Answer) Text(w io.Writer) error {
	p := &page{}
	a.verdict(p)
	if a.Met {
		p.heading("What to set")
	} else {
		p.heading("What comes nearest")
	}
	p.block(a.TOML)
	p.blank()
	p.command("  or  ", a.Command)
	a.expectation(p)
	a.network(p)
	a.whatIf(p)
	a.reading(p)
	_, err := io.WriteString(w, p.String())
	return err
}

// verdict says whether the wish can be met, and what would help if not.
func (a *Answer) verdict(p *page) {
	can := "can be met"
	if !a.Met {
		can = "CANNOT be met"
	}
	p.line("%d members, each to run %s every %s: that %s.", a.Wish.Members, written(a.Wish.Op), written(a.Wish.Every), can)
	for _, warning := range a.Warnings {
		p.blank()
		p.paragraph("Warning: " + warning + ".")
	}
	if len(a.Changes) > 0 {
		p.blank()
		p.line("Any one of these would do, the rest as it is:")
		for _, c := range a.Changes {
			p.line("  %s", c)
		}
	}
}

// expectation is what the fleet does in the long run.
func (a *Answer) expectation(p *page) {
	e := &a.Expected
	p.heading("What to expect, in the long run")
	load, busy, overlap := "op × members / every", "of the time somebody runs", "of the time two or more run"
	if slots := a.Constants.Slots; slots > 1 {
		load, busy = "op × members / (every × slots)", "of the time each token is in use"
		overlap = fmt.Sprintf("of the time more than %d run", slots)
	}
	if e.FromTheory {
		busy += ", in theory"
	} else {
		busy += "; in theory " + percent(e.Theory.Busy)
	}
	p.row("load", fmt.Sprintf("%.2f", a.Load), fmt.Sprintf("%s; by min_interval it is %.2f", load, a.LoadInForce))
	p.row("busy", share(e.Busy), busy)
	p.row("overlap", share(e.Overlap), overlap)
	p.row("false alarms", rate(e.FalseAlarms), "tokens made or revived although there is one, and removed again")
	p.blank()
	p.columns("", "mean", "half of them", "90 %", "99 %", "longest seen")
	for _, l := range []struct {
		name string
		q    Quantiles
	}{{"wait for the token", e.Wait}, {"between two runs", e.Interval}} {
		p.columns(l.name, number(l.q.Mean.Mean), number(l.q.P50), number(l.q.P90), number(l.q.P99), number(l.q.Longest))
	}
}

// network is what the gate sends.
func (a *Answer) network(p *page) {
	t := &a.Traffic
	p.heading("What it costs the network")
	p.row("datagrams", perSecond(t.FleetDatagrams, "/s"), "sent in the whole fleet; by each member "+perSecond(t.MemberDatagrams, "/s"))
	p.row("bytes", perSecond(t.FleetBytes, "B/s"), fmt.Sprintf("in the whole fleet, %d a datagram with its headers; by each member %s",
		t.DatagramBytes, perSecond(t.MemberBytes, "B/s")))
	p.row("gossip", "~ "+perSecond(t.GossipBytes, "B/s"), "by each member besides; an estimate, once for all gates of a fleet")
}

// whatIf is what happens when the fleet starts, grows, or loses its token.
func (a *Answer) whatIf(p *page) {
	p.heading("What if")
	atOnce, holder := "one run after the other", "the holder is killed"
	if slots := a.Constants.Slots; slots > 1 {
		atOnce, holder = fmt.Sprintf("%d runs at once", slots), "the holder of a token is killed"
	}
	p.item("all members start at once", fmt.Sprintf("the first round takes at least %s, %s", spoken(a.FirstRound), atOnce))
	if a.Constants.Backups > 0 {
		p.item(holder, a.afterRevival())
	} else {
		p.item(holder, a.afterLoss())
	}
	p.item("there are twice the members", a.afterGrowth())
}

func (a *Answer) afterGrowth() string {
	b := &a.Twice
	if b.FromTheory {
		return fmt.Sprintf("in theory, load %.2f by min_interval, %s busy, a run every %s", b.Load, share(b.Busy), number(b.Interval.Mean.Mean))
	}
	return fmt.Sprintf("load %.2f by min_interval, %s busy, a run every %s (99 %% within %s), overlap %s",
		b.Load, share(b.Busy), number(b.Interval.Mean.Mean), number(b.Interval.P99), share(b.Overlap))
}

// afterRevival is what becomes of a fleet with guardians.
func (a *Answer) afterRevival() string {
	l := &a.Loss
	silence := "about " + spoken(patiencesToRevive*patience(&a.Constants).Seconds())
	if l.Samples > 0 {
		silence = fmt.Sprintf("%s (longest of %d losses: %s)", number(l.Silence), l.Samples, number(l.LongestSilence))
	}
	text := fmt.Sprintf("%s for %s; then a guardian takes it up again", a.without(), silence)
	if l.Crowd > a.Constants.Slots {
		text += fmt.Sprintf(", and up to %d run at once", l.Crowd)
	}
	return text + fmt.Sprintf(". If all its guardians are killed with it, for up to max_interval, %s", written(a.Constants.MaxInterval))
}

// afterLoss is what becomes of a fleet without.
func (a *Answer) afterLoss() string {
	l := &a.Loss
	if l.Samples == 0 {
		return fmt.Sprintf("%s for up to max_interval, %s", a.without(), written(a.Constants.MaxInterval))
	}
	text := fmt.Sprintf("%s for %s (longest of %d losses: %s)", a.without(), number(l.Silence), l.Samples, number(l.LongestSilence))
	if l.Crowd > a.Constants.Slots {
		text += fmt.Sprintf("; then several members make a new one, and up to %d run at once", l.Crowd)
	}
	if l.Recovered > 0 {
		text += fmt.Sprintf("; %s after the loss there is one token%s again", number(l.Recovery), a.ofEachSlot())
		if l.Recovered < l.Samples {
			text += fmt.Sprintf(" (%d of the %d; the others were not watched to the end)", l.Recovered, l.Samples)
		}
	} else {
		text += "; none was watched to the end of that"
	}
	if l.ShortestMaxInterval < 0.9*a.Constants.MaxInterval.Seconds() {
		text += fmt.Sprintf(". A max_interval of %s would make the silence shorter, and in theory give no more than about one "+
			"false alarm every %s", written(seconds(l.ShortestMaxInterval)), written(a.Wish.Every))
	}
	return text
}

// without says what is missing while a token is lost.
func (a *Answer) without() string {
	if a.Constants.Slots > 1 {
		return "one token less, and one run less at once,"
	}
	return "no token, and no run,"
}

func (a *Answer) token() string {
	if a.Constants.Slots > 1 {
		return "a token"
	}
	return "the token"
}

func (a *Answer) ofEachSlot() string {
	if a.Constants.Slots > 1 {
		return " for each slot"
	}
	return ""
}

// reading explains how to read the rest.
func (a *Answer) reading(p *page) {
	s, twice := &a.Expected.Simulated, &a.Twice.Simulated
	p.heading("How to read this")
	p.paragraph(fmt.Sprintf("A member is due min_interval after the start of its last run, and then waits until %s comes by. %s "+
		"%s: runs are every %s on average, and never closer than min_interval.",
		a.token(), walking(&a.Constants, spoken(a.Expected.Theory.Lap)), a.whyMinInterval(), number(a.Expected.Interval.Mean.Mean)))
	p.blank()
	switch {
	case s.Seeds == 0:
		p.paragraph("The figures are from theory: to simulate so many members with this walk, or so long an every, would take too long.")
		return
	case a.Expected.FromTheory:
		p.paragraph("The share of busy time and the times are from theory: the simulation was too short for so long an every.")
	}
	also := ""
	if twice.Seeds > 0 {
		also = fmt.Sprintf(" (%d fleets of twice the members, %s, %d runs)", twice.Seeds, spoken(twice.Duration), twice.Operations)
	}
	guardians := ""
	if a.Constants.Backups > 0 && !watched(&a.Wish, &a.Constants) {
		guardians = " They are without guardians, who have nothing to do while nothing is lost; what these send is computed."
	}
	p.paragraph(fmt.Sprintf("The figures are measured: %d simulated fleets of %d members, %s in all, %d runs, with the code that an "+
		"agent runs%s.%s ± is where the mean lies with 95 %% confidence. A run takes between half of op and one and a half, a datagram "+
		"%s, and %s of them get lost. %s.",
		s.Seeds, a.Expected.Members, spoken(s.Duration), s.Operations, also, guardians, written(a.Wish.latency()), percent(a.Wish.Loss),
		turns(a.Constants.Walk)))
}

// walking explains a walk.
func walking(k *Constants, lap string) string {
	switch {
	case k.Walk == wander.Random && k.Slots > 1:
		return "The tokens walk at random, each of them everywhere: a member may wait several times as long for the first of them as " +
			"it does on average, and it takes about " + lap + " until everybody has seen one."
	case k.Walk == wander.Random:
		return "The token walks at random: that takes as many hops as there are members on average, but sometimes several times " +
			"as many, and about " + lap + " until the token has been with everybody."
	case k.Walk == wander.Shuffle && k.Slots > 1:
		return "Each token visits everybody once in a lap, which takes about " + lap + ", in a fresh order each time, and a member runs " +
			"under the first that comes."
	case k.Walk == wander.Shuffle:
		return "The token visits everybody once in a lap, which takes about " + lap + ", in a fresh order each time: that is " +
			"little more than half a lap on average, and never more than two."
	case k.Slots > 1:
		return fmt.Sprintf("The %d tokens share the members: each goes round its own part of them in one order, a lap in about %s, and a "+
			"member that will be due within a lap of skips keeps it until then. So the members soon become due in the order in which it "+
			"comes, and hardly anybody waits for long but those who have just joined.", k.Slots, lap)
	}
	return "The token goes round in one order, a lap in about " + lap + ", and a member that will be due within a lap of " +
		"skips keeps it until then. So the members soon become due in the order in which it comes, and hardly anybody waits " +
		"for long but those who have just joined."
}

// whyMinInterval says how min_interval follows from every.
func (a *Answer) whyMinInterval() string {
	switch {
	case a.Constants.MinInterval < a.Wish.Every:
		return "That is why min_interval is every less the mean wait"
	case a.Met:
		return "That is why min_interval is every itself"
	}
	return "min_interval is every itself, so that at least nobody runs more often than wished"
}

// turns says how the simulated members' turns lie.
func turns(w wander.Walk) string {
	if w == wander.Sweep {
		return "Members take their turns as in a fleet that has started all at once"
	}
	return "Members' turns are spread evenly, as they are long after a start"
}

// page is lines of text.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }
func (p *page) blank()                          { p.line("") }

func (p *page) heading(text string) {
	p.blank()
	p.line("%s", text)
}

// block indents lines.
func (p *page) block(text string) {
	for line := range strings.Lines(text) {
		p.line("  %s", strings.TrimSuffix(line, "\n"))
	}
}

// row writes a figure and what it means.
func (p *page) row(name, figure, meaning string) { p.line("  %-13s %15s  %s", name, figure, meaning) }

// columns writes a line of a table.
func (p *page) columns(name string, cells ...string) {
	fmt.Fprintf(&p.Builder, "  %-19s", name)
	for _, c := range cells {
		fmt.Fprintf(&p.Builder, " %12s", c)
	}
	p.blank()
}

// item writes a term and its explanation, indented below it.
func (p *page) item(term, text string) {
	p.line("  %s:", term)
	p.wrap("    ", text+".")
}

// command writes a command line, on several lines if it is long.
func (p *page) command(term, text string) {
	line := term
	for i, flag := range strings.Split(text, " --") {
		if i > 0 {
			flag = "--" + flag
			if len(line)+len(flag) > textWidth {
				p.line("%s \\", line)
				line = strings.Repeat(" ", len(term)+2)
			} else {
				line += " "
			}
		}
		line += flag
	}
	p.line("%s", line)
}

func (p *page) paragraph(text string) { p.wrap("", text) }

func (p *page) wrap(indent, text string) {
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > textWidth {
			p.line("%s", line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	p.line("%s", line)
}

// number writes a time.
func number(n measure.Number) string { return spoken(float64(n)) }

// percent writes a share to three digits, and to no less than a hundredth of a percent.
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

// share writes a share with its confidence.
func share(e measure.Estimate) string {
	half := float64(e.Half)
	if float64(e.Mean) == 0 || math.IsNaN(half) || half < 0.0005 {
		return percent(float64(e.Mean))
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*float64(e.Mean), 100*half)
}

// rate writes how often something happens.
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

// perSecond writes a rate; what is less than one in a hundred seconds is written by the hour.
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
