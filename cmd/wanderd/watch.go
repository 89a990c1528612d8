package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// watch shows the fleet until the user ends it: on a terminal as a screen, elsewhere as a line for each event.
func (p *program) watch(ctx context.Context, c *control.Client) error {
	if _, err := c.Status(ctx); err != nil { // if there is no agent, the error comes at once
		return err
	}
	ctx, stop := cli.UntilSignal(ctx, "wanderd", nil)
	defer stop()
	zone := p.now().Location()
	if cli.Columns(p.stdout) == 0 {
		lines := watchLines{out: p.stdout, zone: zone, said: make(map[string]string)}
		follow.Follow(ctx, c, lines.tell)
		return lines.err
	}
	// The screen ends with the context, and the questions end with the screen.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	screen := tea.NewProgram(newWatchModel(zone), tea.WithContext(ctx), tea.WithOutput(p.stdout),
		tea.WithoutSignalHandler())
	go follow.Follow(ctx, c, func(s follow.Snapshot) { screen.Send(s) })
	if _, err := screen.Run(); err != nil && !errors.Is(err, tea.ErrProgramKilled) {
		return fmt.Errorf("this terminal cannot show it, but \"wanderd status --watch | cat\" can: %w", err)
	}
	return nil
}

// watchLines writes what happens in a fleet, a line for each event.
type watchLines struct {
	out  io.Writer
	zone *time.Location
	// said is the last text about each thing.
	said map[string]string
	// err is why a line could not be written.
	err error
}

func (l *watchLines) tell(s follow.Snapshot) {
	now := s.At.In(l.zone)
	// say prints text about something once, for as long as the text stays the same.
	say := func(about, what, text string) {
		if l.said[about] == what {
			return
		}
		l.said[about] = what
		if _, err := fmt.Fprintf(l.out, "%s  %s\n", now.Format(time.DateTime), text); err != nil && l.err == nil {
			l.err = err
		}
	}
	if s.Error == "" {
		say("error", "", "the agent on this host answers again")
	} else {
		say("error", s.Error, "error: "+printable(s.Error))
	}
	for i := range s.Tokens {
		t := &s.Tokens[i]
		about := fmt.Sprintf("%s %d", t.Gate, t.Slot)
		name := "gate " + printable(t.Gate)
		if slices.ContainsFunc(s.Tokens, func(o follow.Token) bool { return o.Gate == t.Gate && o.Slot != t.Slot }) {
			name += fmt.Sprintf(", slot %d", t.Slot)
		}
		switch {
		case t.Missing != "":
			say(about, "missing "+t.Missing, fmt.Sprintf("%s: %s", name, holderText(&t.Holder, now)))
		case t.Running:
			say(about, "runs "+t.Member, fmt.Sprintf("%s: %s runs, number %d", name,
				strings.TrimSuffix(printable(t.Name)+": "+printable(t.Command), ": "), t.Seq))
		default:
			say(about, "holds "+t.Member, fmt.Sprintf("%s: %s has the token", name, printable(t.Name)))
		}
	}
	for i := range s.Fleet.Members {
		m := &s.Fleet.Members[i]
		text := printable(m.Name) + " answers again"
		if m.Missing != "" {
			text = printable(m.Name) + " is missing: " + printable(m.Missing)
		}
		say(m.Member.Member, m.Missing, text)
		if m.Status == nil {
			continue
		}
		for k := range m.Status.Gates {
			g := &m.Status.Gates[k]
			if g.FailedLast() {
				say("failure "+m.Member.Member+g.Name, g.LastRun.String(),
					fmt.Sprintf("gate %s: %s failed after %s: %s", printable(g.Name), printable(m.Name),
						format(g.LastTook), printable(g.LastExit)))
			}
		}
	}
}
