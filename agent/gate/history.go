package gate

import (
	"strconv"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
)

// enter records, beside the loop, that a run begins; command is the caller's command.
func (g *Gate) enter(l *launch, command string) history.Run {
	entry := history.Run{
		Start: time.Now().Round(0), Seq: uint64(l.token.Seq), Command: command, OutsideWindow: l.outside,
	}
	if l.isHook && len(g.cfg.Stages.First) > 0 {
		entry.Stage = g.watch.Stage()
	}
	g.history.Put(&entry)
	if !l.isHeld {
		emitRun(g, events.Started, &entry, &l.token)
	}
	return entry
}

func (g *Gate) complete(entry *history.Run, r *hook.Result) {
	entry.End, entry.Exit = entry.Start.Add(r.Took), r.Exit
	if r.Err != nil && (entry.Command != "" || !r.NotNow()) {
		entry.Error, entry.Output = r.Err.Error(), r.Tail
	}
	entry.Cut = cutOf(r)
	g.history.Put(entry)
}

// completeKept records the end of a run whose grant was kept, in this boot or in another one, and returns the record.
// If nobody has seen the end, or the operation was over before, the record stays as it is.
func completeKept(g *Gate, b *back, boot string) (entry history.Run) {
	runs := g.history.Runs()
	// In a strict gate the run has the number after that of its kept lease.
	if n := len(runs); n > 0 && runs[n-1].Seq-uint64(b.record.Seq) <= 1 {
		if entry = runs[n-1]; !b.rebooted && b.record.Client == "" {
			return entry
		}
		entry.End, entry.Exit, entry.Error, entry.Cut = time.Now().Round(0), 0, "", ""
		switch {
		case b.rebooted:
			entry.Reboot = &history.Reboot{From: b.record.Boot, To: boot}
		case !b.steady.Load():
			entry.Error, entry.Cut = errNotRebooted(b.record.For).Error(), history.CutTimeout
		}
		g.history.Put(&entry)
		emitRun(g, events.Ended, &entry, nil)
	}
	return entry
}

func cutOf(r *hook.Result) history.Cut {
	switch {
	case r.NotExecuted:
		return history.CutNotStarted
	case r.TimedOut:
		return history.CutTimeout
	case r.Expired:
		return history.CutExpired
	case r.Stopped:
		return history.CutStopped
	}
	return ""
}

// PastRuns returns the last runs of a gate, and when this host has skipped its turns. It is safe for concurrent use.
func (g *Gate) PastRuns() control.GateHistory {
	runs := g.history.All()
	for i := range runs {
		if runs[i].Skip == nil {
			runs[i].SeqText = strconv.FormatUint(runs[i].Seq, 10)
		}
	}
	return control.GateHistory{Name: g.Name(), Runs: runs}
}
