package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// The exit codes of "status --check" are those of a monitoring plugin: critical, and unknown.
const (
	exitUnwell  = 2
	exitUnknown = 3
)

// problem is something that needs an operator's attention.
type problem struct {
	// Gate is empty if the problem concerns the host.
	Gate string `json:"gate,omitempty"`
	Text string `json:"text"`
}

func (p *problem) String() string {
	if p.Gate == "" {
		return printable(p.Text)
	}
	return "gate " + printable(p.Gate) + ": " + printable(p.Text)
}

const (
	// lapsTooMany is how many laps a gate that is due may wait for its turn; each host has one turn in each lap.
	lapsTooMany = 3
	// signsFor is how long a warning without an end counts after its last sign.
	signsFor = 10 * time.Minute
	// failedFor is how long a failed member is a problem for the others: a host that is gone for good must not remain
	// one for ever.
	failedFor = 24 * time.Hour
)

// check returns the page of a host's problems. If there are any, the command then ends with 2.
func (p *program) check(ctx context.Context, c *control.Client, gate string) (page, error) {
	s, err := c.Status(ctx)
	var m control.Members
	if err == nil {
		m, err = c.Members(ctx)
	}
	problems := []problem{}
	switch {
	case errors.Is(err, control.ErrNoAgent):
		problems = append(problems, problem{Text: helpful(err).Error()})
	case err != nil:
		return page{}, cli.Exit(exitUnknown, err)
	default:
		m.Members = slices.DeleteFunc(m.Members, func(e control.Member) bool { return isWaitedFor(&s, e.Member) })
		if err := onlyGate(&s, gate); err != nil {
			return page{}, err
		}
		problems = append(problems, problemsOf(&s, &m, p.now())...)
	}
	answer := page{document: struct {
		Problems []problem `json:"problems"`
	}{problems}, text: fmt.Sprintf("ok: %s, %s\n", count(uint64(len(s.Gates)), "gate"),
		count(uint64(s.Members), "member"))}
	if len(problems) > 0 {
		var b strings.Builder
		for i := range problems {
			b.WriteString(problems[i].String() + "\n")
		}
		answer.text, answer.end = b.String(), cli.Exit(exitUnwell, nil)
	}
	return answer, nil
}

// problemsOf lists the problems of a host: its own first, then those of its gates.
func problemsOf(s *control.Status, m *control.Members, now time.Time) (list []problem) {
	for _, w := range s.Warnings {
		if w.Last.IsZero() || now.Sub(w.Last) < signsFor {
			list = append(list, problem{Text: w.Text})
		}
	}
	for i := range m.Members {
		if e := &m.Members[i]; e.State == stateFailed && now.Sub(e.Since) < failedFor {
			list = append(list, problem{Text: fmt.Sprintf("%s (%s) at %s failed %s: start its agent; if the host is "+
				"gone for good, say \"wanderd members forget %[1]s\", or this ends after %[5]s",
				e.Name, short(e.Member), e.Address, ago(e.Since, now), settings.FormatDuration(failedFor))})
		}
	}
	for i := range s.Gates {
		g := &s.Gates[i]
		isWarned := slices.ContainsFunc(s.Warnings, func(w control.Warning) bool { return w.Gate == g.Name })
		for _, text := range problemsOfGate(g, isWarned, now) {
			list = append(list, problem{Gate: g.Name, Text: text})
		}
	}
	return list
}

// isWaitedFor reports whether a member is away under a grant that is kept for it.
func isWaitedFor(s *control.Status, id string) bool {
	return slices.ContainsFunc(s.Gates, func(g control.Gate) bool {
		return slices.ContainsFunc(g.Kept, func(k control.Kept) bool { return k.Member == id && k.IsAway() })
	})
}

// stateFailed is the state of a member that does not answer, and has not left.
const stateFailed = "failed"

// problemsOfGate lists the problems of a gate. isWarned is true if a warning already explains why the gate takes no
// part, or why it has no majority.
func problemsOfGate(g *control.Gate, isWarned bool, now time.Time) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	switch {
	case isWarned && (g.State == control.Closed || g.Because == control.BecauseNoMajority):
	case g.State == control.Closed:
		say("closed: %s", g.NotRunning)
	case g.Because == control.BecauseNoMajority, g.Because == control.BecauseAlone,
		g.Because == control.BecauseOtherSecret,
		g.Because == control.BecauseUnreachable:
		say("does not run: %s", g.NotRunning)
	case isSilent(g, now):
		say("no token seen %s, which is longer than max_interval: see \"wanderd members\" and the log; \"wanderd "+
			"gate renew\" makes a new one", since(g.SilentSince, now))
	case g.Because == control.BecauseWaiting && waitsTooLong(g, now):
		say("%s: the host does not get its turn; see \"wanderd status --fleet\"", whyNot(g, now))
	}
	if g.SaveError != "" {
		say("the start of a run cannot be recorded: %s", g.SaveError)
	}
	if !g.SavingSince.IsZero() && now.Sub(g.SavingSince) > slowSave {
		say("the disk has been saving for %s: it is slow or hangs", rough(now.Sub(g.SavingSince)))
	}
	if g.FailedLast() {
		say("the last run failed %s: %s; see \"wanderd history\"", ago(g.LastRun, now), g.LastExit)
	}
	if r := g.Ready; r != nil && r.Answer == control.AnswerError {
		say("ready has failed %s: %s", ago(r.At, now), r.Error)
	}
	for _, p := range []*control.Pause{g.Paused, g.PausedHere} {
		if p != nil && p.Until.IsZero() { // by the brake, or by an operator who may have forgotten it
			say("paused %s", pauseText(p, now))
		}
	}
	if g.TooShort != "" {
		say("%s", g.TooShort)
	}
	if f := find(g.Facts, func(f *control.Fact) bool { return f.Name == "least_skip" }); f != nil {
		say("skip is too short for this network: set it to %s or more on all members", format(f.For))
	}
	if f := find(g.Facts, func(f *control.Fact) bool { return f.Name == "least_lease" }); f != nil {
		say("lease is too short for this network: set it to %s or more on all members", format(f.For))
	}
	return list
}

// slowSave is how long a save may take.
const slowSave = 5 * time.Second

// waitsTooLong reports whether a gate that is due has missed its turn. If no lap is known, it has missed its turn when
// it is due again before it has run.
func waitsTooLong(g *control.Gate, now time.Time) bool {
	if len(g.CalledTokens()) > 0 {
		return false // The oldest comes next, however long the others run; if no home answers, isSilent says so.
	}
	if g.Lap > 0 {
		return g.LapsWaited >= lapsTooMany
	}
	patience := max(time.Duration(g.MaxInterval), time.Duration(g.MinInterval))
	return patience > 0 && !g.DueSince.IsZero() && now.Sub(g.DueSince) > patience
}

// onlyGate keeps one gate in a status, or all if none is named.
func onlyGate(s *control.Status, gate string) error {
	if gate == "" {
		return nil
	}
	g := gateOf(s, gate)
	if g == nil {
		names := make([]string, 0, len(s.Gates))
		for i := range s.Gates {
			names = append(names, printable(s.Gates[i].Name))
		}
		return cli.UsageError(fmt.Errorf("this host takes no part in a gate %q; its gates are %s", gate,
			strings.Join(names, ", ")))
	}
	s.Warnings = slices.DeleteFunc(s.Warnings, func(w control.Warning) bool { return w.Gate != "" && w.Gate != gate })
	s.Gates = []control.Gate{*g}
	return nil
}
