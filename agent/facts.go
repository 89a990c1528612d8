package agent

import (
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
)

// Status that only one protocol has comes as facts. Facts with a field in the document of the control socket are written there; the
// others are listed.

// withFacts adds the facts with these names to a line of the log, and returns the last text among them.
func (a *Agent) withFacts(line *zerolog.Event, g *gate, names []string) (text string) {
	if len(names) == 0 {
		return ""
	}
	now := a.clock.now().Time
	facts := append(g.machine.Facts(now, nil), policy.Fact{Name: "next_run", At: g.machine.Status(now).NextRun})
	for _, name := range names {
		for i := range facts {
			f := &facts[i]
			switch {
			case f.Name != name:
			case f.For != 0:
				line.Stringer(name, f.For)
			case f.At != 0 && f.At < policy.Never:
				line.Time(name, a.clock.at(f.At))
			}
			if f.Name == name && f.Text != "" {
				text = f.Text
			}
		}
	}
	return text
}

func (a *Agent) addFact(s *control.Gate, f *policy.Fact) {
	switch f.Name {
	case "walk":
		s.Walk = f.Text
	case "skip":
		s.Skip = control.Duration(f.For)
	case "min_interval":
		s.MinInterval = control.Duration(f.For)
	case "backups":
		s.Backups = f.Count
	case "on_lost":
		s.OnLost = f.Text
	case "ask_before_run":
		s.AskBeforeRun = f.Text == "true"
	case "op":
		s.Op, s.OpSource = control.Duration(f.For), f.Text
	case "max_interval":
		s.MaxInterval, s.MaxIntervalRule = control.Duration(f.For), f.Text
	case "lap":
		s.Lap = control.Duration(f.For)
	case "too_short":
		s.TooShort = f.Text
	case "regenerate_after":
		s.RegenerateAfter = control.Duration(f.For)
	case "window":
		s.Windows = append(s.Windows, f.Text)
	case "window_opens":
		s.WindowOpens = a.clock.at(f.At)
	case "window_closes":
		s.WindowOpen = true
		if f.At < policy.Never {
			s.WindowCloses = a.clock.at(f.At)
		}
	case "regenerate_at":
		s.RegenerateAt = a.clock.at(f.At)
	case "guards", "guardian":
		// They are about one token: see whereabouts.
	case "interval_ends", "window_opened":
		// They say since when a gate has been due: see situation.
	default:
		s.Facts = append(s.Facts, a.fact(f))
	}
}

func (a *Agent) fact(f *policy.Fact) control.Fact {
	c := control.Fact{Name: f.Name, Slot: int(f.Slot), For: control.Duration(f.For), Count: f.Count, Text: f.Text}
	if f.At != 0 {
		c.At = a.clock.at(f.At)
	}
	if !f.Member.IsZero() {
		c.Member, c.MemberName = f.Member.String(), a.nameOf(f.Member)
	}
	return c
}
