package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// unmatchedAfter is how long after its start an agent may not know all members.
const unmatchedAfter = time.Minute

// Warnings lists the signs of mistakes that concern a gate.
func (g *Gate) Warnings() (list []control.Warning) {
	if g.isClosed() {
		list = append(list, control.Warning{
			Gate: g.cfg.Name, Text: "gate " + g.cfg.Name + ": " + whyClosed, Count: g.fault.count,
		})
	}
	if g.protocols.foreign != "" {
		list = append(list, control.Warning{Gate: g.cfg.Name, Text: "gate " + g.cfg.Name + ": " + g.protocols.foreign})
	}
	if empty := g.watch.Empty(); len(empty) > 0 && time.Since(g.env.Started) > unmatchedAfter {
		list = append(list, control.Warning{Gate: g.cfg.Name, Text: fmt.Sprintf(
			"gate %s: no member that is here has a name like %q of first: that stage holds nobody up", g.cfg.Name,
			empty,
		)})
	}
	for _, text := range g.roster.troubles() {
		list = append(list, control.Warning{Gate: g.cfg.Name, Text: "gate " + g.cfg.Name + ": " + text})
	}
	return list
}

// Status describes the gate for operators.
func (g *Gate) Status(around *Around) control.Gate {
	now := g.env.Clock.Now().Time
	m, facts := g.machine.Status(now), g.machine.Facts(now, nil)
	s := control.Gate{
		Name: g.cfg.Name, Policy: g.descriptor.Name, State: m.Phase, Members: g.members,
		Whereabouts: g.whereabouts(&m, facts), Running: g.run != nil, Removed: g.exit.removed,
		OnDemand: g.cfg.OnDemand(), Runs: g.tally.runs, Failures: g.tally.failures, Commands: g.tally.commands,
		CommandResults: maps.Clone(g.tally.commandResults), LastCommand: g.tally.lastCommand,
		Fault: g.fault.last, Faults: g.fault.count,
		Slots: 1, Callers: g.callers.list(), OutsideWindow: g.callers.outside(), Roster: g.roster.describe(),
		Together: control.Together{With: slices.Clone(g.cfg.With), Zone: g.cfg.Zone, ZoneOf: g.cfg.ZoneOf},
		Results:  maps.Clone(g.tally.results), Taken: maps.Clone(g.tally.taken), Given: maps.Clone(g.tally.given),
		Notes: make(map[string]uint64, len(g.tally.notes)),
		Sent:  g.byName(g.tally.sent), Received: g.byName(g.tally.received),
	}
	for i := range facts {
		g.addFact(&s, &facts[i])
	}
	if several, ok := g.machine.Machine.(policy.Slotted); ok {
		s.Slots = several.Slots()
		for i := range s.Slots {
			slot := several.SlotStatus(i, now)
			slot.Token.Slot = uint8(i)
			where := g.whereabouts(&slot, facts)
			s.Tokens = append(s.Tokens, control.Slot{Slot: i, State: slot.Phase, Whereabouts: where})
		}
	}
	g.pauses(&s)
	s.Ready, s.Stage = g.readyStatus(now), stageStatus(g)
	if g.run != nil && g.run.care != nil {
		s.Care = g.run.care.Status()
	}
	if s.MinInterval > 0 {
		s.Load = float64(s.Op) * float64(g.members) / (float64(s.MinInterval) * float64(s.Slots))
	}
	for note, n := range g.tally.notes {
		s.Notes[g.descriptor.Notes.Of(note).Name] = n
	}
	if !m.Holding && m.Since < policy.Never {
		s.SilentSince = g.env.Clock.At(m.Since)
	}
	if m.HasRun {
		s.LastRun = g.env.Clock.At(m.LastRun)
	}
	if last := g.history.Last(); g.cfg.OnDemand() && last.After(s.LastRun) {
		s.LastRun = last // A run that does not count for min_interval is in no record.
	}
	if m.HasRun && m.NextRun < policy.Never {
		s.NextRun = g.env.Clock.At(m.NextRun)
	}
	s.LastSuccess = g.saver.record.LastSuccess
	if g.saver.err != nil {
		s.SaveError = g.saver.err.Error()
	}
	if g.saver.busy() {
		s.SavingSince = g.saver.since
	}
	if g.tally.last != nil && g.run == nil {
		s.LastTook, s.LastExit = control.Duration(g.tally.last.Took), exitText(g.tally.last)
	}
	if g.run == nil {
		s.NotRunning = m.Why
		g.situation(&s, m.Bar, facts, around).explain()
	} else if other, since := g.run.others.WaitsFor(); other != "" {
		describeWait(&s, &g.cfg, other, since)
		if len(s.Callers) > 0 {
			s.Callers[0].Running, s.Callers[0].RunningSince = false, time.Time{}
		}
	}
	return s
}

// describeWait describes a run that has its token, and waits for another gate.
func describeWait(s *control.Gate, cfg *Config, other string, since time.Time) {
	s.Running, s.Because, s.WaitsFor, s.WaitsSince = false, control.BecauseOthers, other, since
	what := "has been waiting for gate " + other
	if other == cfg.Zone {
		s.WaitsZone = strings.TrimPrefix(other, cfg.Name+"@")
		what = "zone " + s.WaitsZone + " has been busy"
	}
	s.NotRunning = fmt.Sprintf("has the token, and %s for %v (with_wait %v)", what,
		time.Since(since).Round(time.Second), cfg.WithWait)
}

// whereabouts describes where the token of m is.
func (g *Gate) whereabouts(m *policy.Status, facts []policy.Fact) control.Whereabouts {
	w := control.Whereabouts{Holding: m.Holding}
	if m.Token.Seq != 0 {
		w.Token, w.Seq = m.Token.ID.String(), uint64(m.Token.Seq)
		w.SeqText = strconv.FormatUint(w.Seq, 10)
	}
	for i := range facts {
		switch f := &facts[i]; {
		case f.Slot != m.Token.Slot:
		case f.Key == policy.KeyKeeps:
			w.Keeps = true
		case f.Key == policy.KeyGuardian:
			w.Guardians = append(w.Guardians, control.Guardian{Member: f.Member.String(), Name: g.nameOf(f.Member)})
		case f.Key == policy.KeyHeard:
			w.Heard = g.env.Clock.At(f.At)
		}
	}
	w.Called = g.called(m.Token.Slot, facts)
	if m.Holder.IsZero() {
		return w
	}
	w.Holder, w.HolderName = m.Holder.String(), g.nameOf(m.Holder)
	switch hands := &g.hands[m.Token.Slot]; {
	case m.Holding:
		w.HolderSince = hands.since
	case m.Holder == hands.passedTo:
		w.HolderSince = hands.passedAt
	}
	return w
}

// called describes who waits for a token that is called, and whom this member calls. It returns nil if the token goes
// round: then no member is a home.
func (g *Gate) called(slot uint8, facts []policy.Fact) *control.Called {
	c := &control.Called{Homes: []control.Guardian{}}
	isCalled := false
	for i := range facts {
		switch f := &facts[i]; {
		case f.Slot != slot:
		case f.Key == policy.KeyHome:
			isCalled = true
			c.Homes = append(c.Homes, control.Guardian{Member: f.Member.String(), Name: g.nameOf(f.Member)})
		case f.Key == policy.KeyWaiters:
			isCalled = true
			c.Queue = &control.Queue{As: f.Text, Waiters: f.Count}
		case f.Key == policy.KeyWaiter && c.Queue != nil:
			c.Queue.Oldest = append(c.Queue.Oldest, control.Waiter{
				Member: f.Member.String(), Name: g.nameOf(f.Member), Since: g.env.Clock.At(f.At), Silent: f.Text != "",
			})
		case f.Key == policy.KeyCalls:
			isCalled = true
			c.Since = g.env.Clock.At(f.At)
		case f.Key == policy.KeyQueued:
			c.Turn = &control.Turn{
				Member: f.Member.String(), Name: g.nameOf(f.Member), At: g.env.Clock.At(f.At), Before: f.Count,
				Held: control.Duration(f.For),
			}
		}
	}
	if !isCalled {
		return nil
	}
	return c
}

// Line describes a gate in few words.
func (g *Gate) Line() string {
	var s policy.Status
	g.Reads(func() { s = g.machine.Status(g.env.Clock.Now().Time) })
	phase := s.Phase
	if phase == control.Absent {
		phase = "the token is elsewhere"
	}
	if s.HasRun {
		phase += ", last run " + g.env.Clock.At(s.LastRun).Format(time.RFC3339)
	}
	return g.cfg.Name + ": " + phase
}

func exitText(r *hook.Result) string {
	switch {
	case r.NotNow():
		return control.ExitNotNow
	case r.Err != nil:
		return r.Err.Error()
	}
	return control.ExitOK
}

// commandText is how a command has ended. An exit status has a meaning only for the command's caller.
func commandText(r *hook.Result) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return control.ExitOK
}
