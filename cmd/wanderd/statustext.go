package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// statusText writes a status for people, as of now and in now's time zone.
func statusText(s control.Status, now time.Time) string {
	var b strings.Builder
	sealed := "sealed"
	if !s.Sealed {
		sealed = "not sealed"
	}
	fmt.Fprintf(&b, "%s (%s) at %s, %s, up %s, wanderd %s\n", printable(s.Name), short(s.Member), printable(s.Address),
		sealed,
		rough(now.Sub(s.Started)), printable(s.Version))
	fmt.Fprintf(&b, "%s\n", count(uint64(s.Members), "member"))
	if s.TwoSecrets {
		by := "nobody seals with the second: you can delete its line"
		if len(s.SealedBySecond) > 0 {
			by = "the second still seals on " + printable(strings.Join(s.SealedBySecond, ", "))
		}
		fmt.Fprintf(&b, "two secrets: %s\n", by)
	}
	writeForgotten(&b, s.Forgotten, now)
	for _, warning := range s.Warnings {
		writeWarning(&b, warning, now)
	}
	writeCounters(&b, "dropped", "datagram", s.Dropped)
	writeCounters(&b, "gossip noted", "oddity", s.Gossip)
	for _, g := range s.Gates {
		b.WriteByte('\n')
		writeGate(&b, g, s.Member, now)
	}
	return b.String()
}

func writeGate(b *strings.Builder, g control.Gate, self string, now time.Time) {
	fmt.Fprintf(b, "gate %s: %s\n", printable(g.Name), stateText(&g, now))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	asked := func(slot int) *control.Holder {
		return find(g.Now, func(h *control.Holder) bool { return h.Slot == slot })
	}
	if len(g.Tokens) == 0 {
		writeToken(line, "holder", g.Whereabouts, len(g.Roster) == 0, asked(0), now)
		writeCalled(line, self, g.Called, now)
	}
	for _, t := range g.Tokens {
		writeToken(line, fmt.Sprintf("slot %d", t.Slot), t.Whereabouts, true, asked(t.Slot), now)
		writeCalled(line, self, t.Called, now)
	}
	if len(g.Now) > 0 {
		line("runs now", "%s", runnersText(g.Now, now))
	}
	if isSilent(&g, now) {
		line("no token", "seen %s, which is longer than max_interval; \"wanderd gate renew\" makes a new one",
			since(g.SilentSince, now))
	}
	if g.Removed {
		line("removed", "the configuration has this gate no longer; it is removed when its run has ended and its "+
			"token is passed on")
	}
	if g.Running {
		line("running", "%s", since(g.LastRun, now))
	} else {
		line("not running", "%s", whyNot(&g, now))
		line("last run", "%s", lastRun(g, now))
	}
	switch {
	case g.NextRun.After(now):
		line("next run", "in %s (%s) at the earliest", rough(g.NextRun.Sub(now)), clock(g.NextRun, now))
	case g.Awaits():
		line("next run", "when the token comes")
	}
	writeWindows(line, g, now)
	writeReady(line, g.Ready, now)
	writeStage(line, g.Stage)
	writeAround(line, &g, now)
	if g.Paused != nil || g.PausedHere != nil {
		line("paused", "%s", strings.TrimPrefix(pausedText(&g, now), "is paused "))
	}
	for _, f := range g.Failing {
		line("failing", "%s, exit %d", printable(f.Host), f.Exit)
	}
	if !g.OnDemand {
		line("runs", "%d, of which %d failed", g.Runs, g.Failures)
	}
	if c := g.LastCommand; c != nil {
		line("commands", "%d of callers; the last: %s, %s, took %s, %s", g.Commands, printable(c.Command),
			ago(c.Began, now), format(c.Took), printable(c.Exit))
	}
	if !g.LastSuccess.IsZero() {
		line("last success", "%s", ago(g.LastSuccess, now))
	}
	if g.SaveError != "" {
		line("disk", "%s", printable(g.SaveError))
	}
	if !g.SavingSince.IsZero() && now.Sub(g.SavingSince) > time.Second {
		line("disk", "has been saving for %s: it is slow or hangs, so the hook does not run here",
			rough(now.Sub(g.SavingSince)))
	}
	for _, c := range g.Callers {
		if c.Running {
			line("command", "%s, running %s", callerText(&c), since(c.RunningSince, now))
		} else {
			line("caller", "%s, waiting %s", callerText(&c), since(c.Since, now))
		}
	}
	switch {
	case len(g.Roster) > 0:
		writeStrict(line, g)
	case len(g.CalledTokens()) > 0:
		writeOnCall(line, g)
	default:
		writeSoft(line, g, now)
	}
	for i := range g.Kept {
		line("kept", "%s", keptText(&g.Kept[i], now))
	}
	for _, f := range g.Facts {
		line(printable(f.Name), "%s", writtenFact(f, now))
	}
}

// stateText returns the state of a gate. If it is absent, the token is absent, and not the agent.
func stateText(g *control.Gate, now time.Time) string {
	switch {
	case g.State != control.Absent:
		return printable(g.State)
	case isSilent(g, now):
		return "absent (this host knows of no token)"
	case len(g.CalledTokens()) > 0 && g.Holder == "" &&
		find(g.Now, func(h *control.Holder) bool { return h.Missing == "" }) == nil:
		return "absent (this host does not know where the token is)"
	}
	return "absent (the token is elsewhere)"
}

// isSilent reports whether, as far as this host knows, a gate has had no token for longer than max_interval.
func isSilent(g *control.Gate, now time.Time) bool {
	return g.MaxInterval > 0 && !g.SilentSince.IsZero() && now.Sub(g.SilentSince) > time.Duration(g.MaxInterval)
}

func writeSoft(line func(name, format string, args ...any), g control.Gate, now time.Time) {
	if g.Walk != "" {
		line("walk", "%s, resting for %s at each host", printable(g.Walk), format(g.Skip))
	}
	writeShare(line, g)
	regenerates := "after " + format(g.RegenerateAfter) + " without a token"
	if !g.RegenerateAt.IsZero() {
		regenerates += fmt.Sprintf(", in %s (%s)", rough(g.RegenerateAt.Sub(now)), clock(g.RegenerateAt, now))
	}
	line("regenerates", "%s", regenerates)
	if g.MaxIntervalRule != "" {
		line("max_interval", "%s: %s", format(g.MaxInterval), printable(g.MaxIntervalRule))
	}
	if g.TooShort != "" {
		line("warning", "%s", printable(g.TooShort))
	}
	backups := "none; a lost token is replaced only by a new one"
	if g.Backups > 0 {
		backups = fmt.Sprintf("%s for each token; on_lost %s", count(uint64(g.Backups), "guardian"),
			printable(g.OnLost))
	}
	line("backups", "%s", backups)
	if g.AskBeforeRun {
		line("asks", "all other hosts before it runs (ask_before_run)")
	}
	op := format(g.Op)
	if g.OpSource != "" {
		op += " (" + printable(g.OpSource) + ")"
	}
	load := fmt.Sprintf("%.2f: op %s × %s / min_interval %s", g.Load, op, count(uint64(g.Members), "member"),
		format(g.MinInterval))
	if g.Slots > 1 {
		load += fmt.Sprintf(" / %d slots", g.Slots)
	}
	if g.Load > 1 {
		load += "; above 1, so all members run later than min_interval"
	}
	line("load", "%s", load)
}

func writeStrict(line func(name, format string, args ...any), g control.Gate) {
	line("policy", "%s, strict: a host may run only while a majority of the roster permits it", printable(g.Policy))
	for _, v := range g.Roster {
		line("roster", "%s", voterText(v))
	}
	line("majority", "%d of %d", len(g.Roster)/2+1, len(g.Roster))
	line("backups", "%s", count(uint64(g.Backups), "member"))
}

func voterText(v control.Voter) string {
	is := "away"
	switch {
	case v.Member == "":
		return printable(v.Name) + ", never seen: no key has this name yet"
	case v.Self:
		is = "this host"
	case v.Agrees:
		is = "here"
	case v.Live:
		is = "here, does not have this roster yet"
	}
	return fmt.Sprintf("%s = %s, %s", printable(v.Name), printable(v.Member), is)
}

func writeWindows(line func(name, format string, args ...any), g control.Gate, now time.Time) {
	next := ""
	switch {
	case g.OutsideWindow != "":
		line("window", "none for one run, by order of %s", printable(g.OutsideWindow))
		return
	case len(g.Windows) == 0:
		return
	case !g.WindowOpens.IsZero():
		next = fmt.Sprintf("opens in %s (%s)", rough(g.WindowOpens.Sub(now)), clock(g.WindowOpens, now))
	case !g.WindowCloses.IsZero():
		next = fmt.Sprintf("open for another %s (until %s)", rough(g.WindowCloses.Sub(now)), clock(g.WindowCloses, now))
	case g.WindowOpen:
		next = "always open"
	default:
		next = "never opens"
	}
	line("window", "%s: %s", next, printable(strings.Join(g.Windows, "; ")))
}

// writeReady writes the answer of this host's ready check.
func writeReady(line func(name, format string, args ...any), r *control.Ready, now time.Time) {
	if r == nil {
		return
	}
	text := "not asked yet"
	switch r.Answer {
	case control.AnswerYes:
		text = "yes"
	case control.AnswerNo:
		text = "no (75)"
	case control.AnswerError:
		text = "an error: " + printable(r.Error)
	}
	if r.Answer != "" {
		text += ", " + ago(r.At, now)
	}
	switch {
	case !r.AskingSince.IsZero():
		text += "; being asked " + since(r.AskingSince, now)
	case !r.Next.IsZero():
		text += fmt.Sprintf("; asked next in %s (%s)", rough(r.Next.Sub(now)), clock(r.Next, now))
	}
	line("ready", "%s", text)
}

// whyNot returns why a gate does not run, and for how long it has been waiting for the token.
func whyNot(g *control.Gate, now time.Time) string {
	text := printable(g.NotRunning)
	if g.DueSince.IsZero() {
		return text
	}
	text += ", for " + rough(now.Sub(g.DueSince))
	if g.LapsWaited > 0 {
		text += fmt.Sprintf(" (%.1f laps)", g.LapsWaited)
	}
	return text
}

func writtenFact(f control.Fact, now time.Time) string {
	var parts []string
	if f.For != 0 {
		parts = append(parts, format(f.For))
	}
	if f.Count != 0 {
		parts = append(parts, strconv.Itoa(f.Count))
	}
	if !f.At.IsZero() {
		parts = append(parts, clock(f.At, now))
	}
	if f.MemberName != "" {
		parts = append(parts, printable(f.MemberName))
	}
	if f.Text != "" {
		parts = append(parts, printable(f.Text))
	}
	return strings.Join(parts, ": ")
}

// find returns the first element for which is returns true, or nil.
func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// writeToken writes the holder of a token, its guardians if the token is here and can have some, and its identity.
// asked is nil if the holder was not asked for.
func writeToken(line func(name, format string, args ...any), name string, t control.Whereabouts, guarded bool,
	asked *control.Holder, now time.Time,
) {
	switch {
	case t.Holding:
		line(name, "this host, %s", since(t.HolderSince, now))
		if !guarded {
			break
		}
		var guardians []string
		for _, g := range t.Guardians {
			guardians = append(guardians, printable(g.Name))
		}
		line("guardians", "%s", cmp.Or(strings.Join(guardians, ", "), "none"))
	case asked != nil:
		line(name, "%s", holderText(asked, now))
	case t.Holder != "" && !t.Heard.IsZero():
		line(name, "%s (%s), as this host heard %s", printable(t.HolderName), short(t.Holder), ago(t.Heard, now))
	case t.Holder != "":
		holder := fmt.Sprintf("%s (%s)", printable(t.HolderName), short(t.Holder))
		if !t.HolderSince.IsZero() {
			holder = fmt.Sprintf("not known; passed to %s %s", holder, ago(t.HolderSince, now))
		}
		line(name, "%s", holder)
	default:
		line(name, "not known")
	}
	if t.Keeps && !t.Holding {
		line("guarding", "this host keeps a copy of the token")
	}
	switch {
	case t.Token == "":
	case !t.Heard.IsZero():
		line("token", "%s, number %d when this host last heard of it, %s", printable(t.Token), t.Seq, ago(t.Heard, now))
	default:
		line("token", "%s, number %d", printable(t.Token), t.Seq)
	}
}

func lastRun(g control.Gate, now time.Time) string {
	if g.LastRun.IsZero() {
		return "never"
	}
	text := ago(g.LastRun, now)
	if g.LastExit == "" { // it was a run of an earlier agent
		return text
	}
	return fmt.Sprintf("%s, took %s, %s", text, format(g.LastTook), printable(g.LastExit))
}

// byName returns the members in the order of their names.
func byName(m control.Members) []control.Member {
	list := slices.Clone(m.Members)
	slices.SortFunc(list, func(a, b control.Member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Member, b.Member))
	})
	return list
}

// knownHostsText has a line of known hosts for each member that is in the fleet, or may come back.
func knownHostsText(m control.Members) string {
	var b strings.Builder
	for _, e := range byName(m) {
		if e.State != "left" && e.State != "untrusted" && e.KnownHosts != "" {
			fmt.Fprintf(&b, "%s\n", printable(e.KnownHosts))
		}
	}
	return b.String()
}

func since(t, now time.Time) string {
	if t.IsZero() {
		return "for an unknown time"
	}
	return fmt.Sprintf("for %s (since %s)", rough(now.Sub(t)), clock(t, now))
}

func ago(t, now time.Time) string {
	return fmt.Sprintf("%s ago (%s)", rough(now.Sub(t)), clock(t, now))
}

// clock writes the time of day, with the date unless it is today.
func clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// rough writes a duration rounded down to its two largest units.
func rough(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Hour:
		d = d.Truncate(time.Second)
	case d < 24*time.Hour:
		d = d.Truncate(time.Minute)
	default:
		d = d.Truncate(time.Hour)
	}
	return settings.FormatDuration(d)
}

func format(d control.Duration) string {
	return settings.FormatDuration(time.Duration(d).Round(time.Millisecond))
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		what = stem + "ie"
	}
	return strconv.FormatUint(n, 10) + " " + what + "s"
}

func writeWarning(b *strings.Builder, w control.Warning, now time.Time) {
	fmt.Fprintf(b, "warning: %s", printable(w.Text))
	var seen []string
	if w.Count > 1 {
		seen = append(seen, count(w.Count, "time"))
	}
	if !w.Last.IsZero() {
		seen = append(seen, "last "+ago(w.Last, now))
	}
	if w.From != "" {
		seen = append(seen, "from "+printable(w.From))
	}
	if len(seen) > 0 {
		fmt.Fprintf(b, " (%s)", strings.Join(seen, ", "))
	}
	b.WriteByte('\n')
}

// writeCounters writes the sum of counters, and each of them with its explanation, largest first. It writes nothing if
// all are 0.
func writeCounters(b *strings.Builder, verb, what string, by map[string]uint64) {
	total := uint64(0)
	for _, n := range by {
		total += n
	}
	if total == 0 {
		return
	}
	fmt.Fprintf(b, "%s %s since the start\n", verb, count(total, what))
	kinds := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		if n := by[kind]; n > 0 {
			fmt.Fprintf(b, "  %-12s %s\n", printable(kind),
				strings.TrimSuffix(fmt.Sprintf("%d: %s", n, counterWords(kind)), ": "))
		}
	}
}

// short returns the beginning of an identity, as in logs.
func short(id string) string { return printable(id[:min(len(id), 8)]) }

// printable replaces characters that are not printable: names of other members could contain control sequences.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
