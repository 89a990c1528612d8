package plan

import (
	"fmt"
	"io"
	"strings"
)

// toml returns the constants as part of a configuration file.
func (w *OnceRequest) toml() string {
	line := func(key string, value any, comment string) string {
		return fmt.Sprintf("%-28s # %s\n", fmt.Sprintf("%s = %#v", key, value), comment)
	}
	return line("once", true, "one run in each min_interval for the whole fleet") +
		line("min_interval", written(w.Every), "counted from the start of a run that has succeeded") +
		line("policy", "call", "the token comes when it is called, and is silent otherwise") +
		line("skip", written(w.skip()), "a holder that is silent for so long is suspected") +
		line("backups", w.Backups, "how many homes guard the token")
}

func (w *OnceRequest) command() string {
	return fmt.Sprintf("wanderd --once --min-interval %s --policy call --skip %s --backups %d", written(w.Every),
		written(w.skip()), w.Backups)
}

// Text writes the result for people.
func (a *OnceResult) Text(out io.Writer) error {
	var p page
	w, e := &a.Request, &a.Expected
	p.line("%d members, one of which runs %s in each %s.", w.Members, written(w.Op), written(w.Every))
	p.line("\nWhat to set")
	for setting := range strings.Lines(a.TOML) {
		p.line("  %s", strings.TrimSuffix(setting, "\n"))
	}
	p.line("\n  or  %s\n", flags(a.Command))
	p.line("What to expect, in the long run")
	p.row("twice", twiceIn(e), "intervals in which a second host runs: %s", failures(w))
	p.row("datagrams", fmt.Sprintf("%.3g a run", float64(e.PerRun)), "sent in the whole fleet; none between")
	p.line("\n%s", columns("", "mean", "half of them", "90 %", "99 %", "longest seen"))
	p.spread("start after", e.Late)
	p.line("\nWhat if\n  the host of a run loses its power in it:")
	p.paragraph("    ", "the run counts as none, and another host runs after %s (longest seen: %s). What the first "+
		"one has done by then is done twice.", number(a.Dies.P50), number(a.Dies.Longest))
	p.line("  the network is in two halves:")
	p.paragraph("    ", "a second host runs in %s intervals, one in each half, when the half without a token has made "+
		"one, which takes up to max_interval.", twiceIn(&a.Cut))
	p.line("\nHow to read this")
	p.paragraph("", "Whoever gets the token first runs; when that has succeeded, the gate is paused for the rest of "+
		"the interval, and the token takes that along. A run that fails lets the next host try. A strict gate, "+
		"which has a roster, does not run twice in a parted network.")
	p.line("")
	s := &e.Simulated
	p.paragraph("", "The figures are measured: %d simulated fleets, %s in all, %d runs, with the code that an agent "+
		"runs, and %d intervals for each \"what if\". A run takes between half of op and one and a half, a datagram "+
		"%s, and %s of them get lost.", s.Seeds, spoken(s.Duration), s.Operations, a.Cut.Intervals,
		written(w.latency()), percent(w.Loss))
	_, err := io.WriteString(out, p.String())
	return err
}

// twiceIn is how many intervals have a second run.
func twiceIn(f *OnceForecast) string { return fmt.Sprintf("%d of %d", f.Twice, f.Intervals) }

// failures says how often hosts fail.
func failures(w *OnceRequest) string {
	if w.FailsEvery == 0 {
		return "no host fails; see below"
	}
	return fmt.Sprintf("each host fails once in %s, for %s", written(w.FailsEvery), written(w.DownFor))
}
