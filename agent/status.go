package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
)

// source answers the control socket: see [control.Source]. It reads the state on the loop, so an answer is a consistent snapshot.
type source struct{ a *Agent }

func (s source) Status(ctx context.Context) (control.Status, error) { return ask(ctx, s.a, s.a.status) }
func (s source) Now(ctx context.Context) (control.Now, error)       { return s.a.fleet.Now(ctx) }
func (s source) Fleet(ctx context.Context) (control.Fleet, error)   { return s.a.fleet.Status(ctx) }

func (s source) Members(ctx context.Context) (control.Members, error) {
	return ask(ctx, s.a, func() (list control.Members) {
		for _, m := range s.a.members.All() {
			list.Members = append(list.Members, s.a.describe(&m))
		}
		return list
	})
}

func (s source) FleetHistory(ctx context.Context, which control.Which) (control.FleetHistory, error) {
	return s.a.fleet.History(ctx, which)
}

// ask runs question on the loop.
func ask[T any](ctx context.Context, a *Agent, question func() T) (T, error) {
	answer := make(chan T, 1)
	select {
	case a.queries <- func() { answer <- question() }:
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("the agent is busy or stopping: %w", ctx.Err())
	}
	return <-answer, nil
}

// do carries out something on the loop.
func do(ctx context.Context, a *Agent, what func() error) error {
	refused, err := ask(ctx, a, what)
	return errors.Join(err, refused)
}

func (a *Agent) status() control.Status {
	silence := a.silence()
	around := around{alone: a.sitsAlone(), otherSecret: a.otherSecret(time.Unix(0, a.clock.Now().Wall))}
	s := control.Status{
		Version: a.cfg.Version, Name: a.cfg.Name, Member: a.self.String(), Address: a.endpoint.Addr.String(),
		Started: a.started, Sealed: a.cfg.Secret != nil,
		TwoSecrets: a.twoSecrets.Load(), SealedBySecond: a.sealedBySecond(), Members: len(a.view.Members), Dropped: a.drops.nonzero(),
		Gossip: a.gossipCounters(), Warnings: a.warnings(silence),
	}
	for _, g := range a.gates {
		around.cutOff = silence.cutsOff(g.id)
		g.reads(func() {
			s.Gates = append(s.Gates, g.gateStatus(&around))
		})
	}
	return s
}

// warnings lists the signs of mistakes, latest first.
func (a *Agent) warnings(silence *silence) []control.Warning {
	now := time.Now()
	list := a.drops.warnings(now)
	if w, lost := a.stateLoss.warning(); lost {
		list = append(list, w)
	}
	if s := a.members.Stats(); s.Foreign > 0 && now.Sub(s.ForeignAt) < suspectFor {
		list = append(list, control.Warning{Text: membership.ForeignHint, Count: s.Foreign, Last: s.ForeignAt, From: s.ForeignFrom})
	}
	for _, r := range a.members.Refusals() {
		list = append(list, control.Warning{Text: "cannot join " + r.Join + ": " + r.Reason, Last: r.At})
	}
	list = append(list, a.trustWarnings(now)...)
	list = append(list, silence.warnings()...)
	for _, g := range a.gates {
		list = append(list, g.warnings()...)
	}
	slices.SortStableFunc(list, func(x, y control.Warning) int { return y.Last.Compare(x.Last) })
	return list
}

// warnings lists the signs of mistakes that concern a gate.
func (g *gate) warnings() (list []control.Warning) {
	if g.isClosed() {
		list = append(list, control.Warning{Gate: g.cfg.Name, Text: "gate " + g.cfg.Name + ": " + whyClosed, Count: g.faults})
	}
	for _, text := range g.rosterTroubles() {
		list = append(list, control.Warning{Gate: g.cfg.Name, Text: "gate " + g.cfg.Name + ": " + text})
	}
	return list
}

// gossipCounters returns the counters of membership above zero.
func (a *Agent) gossipCounters() map[string]uint64 {
	s := a.members.Stats()
	all := map[string]uint64{
		"malformed": s.Malformed, "foreign": s.Foreign, "strangers": s.NoPreamble, "untrusted": s.Untrusted, "overflow": s.Overflow, "crowded": s.Crowded,
		"refused": s.Refused, "clock_off": s.Clock, "same_name": s.SameName, "same_key": s.SameKey, "log_lost": s.LogLost,
	}
	maps.DeleteFunc(all, func(_ string, n uint64) bool { return n == 0 })
	return all
}

func (g *gate) gateStatus(around *around) control.Gate {
	now := g.env.clock.Now().Time
	m, facts := g.machine.Status(now), g.machine.Facts(now, nil)
	s := control.Gate{
		Name: g.cfg.Name, Policy: g.family.Name, State: m.Phase, Members: g.members,
		Whereabouts: g.whereabouts(&m, facts), Running: g.run != nil, Removed: g.removed, Runs: g.runs, Failures: g.failures,
		OnDemand: g.cfg.onDemand(), Commands: g.commands, CommandResults: maps.Clone(g.tally.commands), LastCommand: g.lastCommand,
		Fault: g.fault, Faults: g.faults,
		Slots: 1, Callers: g.callers.list(), Roster: g.voters(),
		Results: maps.Clone(g.tally.results), Taken: maps.Clone(g.tally.taken), Given: maps.Clone(g.tally.given),
		Notes: make(map[string]uint64, len(g.notes)),
	}
	for i := range facts {
		g.addFact(&s, &facts[i])
	}
	if several, ok := g.machine.Machine.(policy.Slotted); ok {
		s.Slots = several.Slots()
		for i := range s.Slots {
			slot := several.SlotStatus(i, now)
			slot.Token.Slot = uint8(i)
			s.Tokens = append(s.Tokens, control.Slot{Slot: i, State: slot.Phase, Whereabouts: g.whereabouts(&slot, facts)})
		}
	}
	g.pauses(&s)
	s.Ready = g.readyStatus(now)
	if s.MinInterval > 0 {
		s.Load = float64(s.Op) * float64(g.members) / (float64(s.MinInterval) * float64(s.Slots))
	}
	for note, n := range g.notes {
		s.Notes[g.family.Notes.Of(note).Name] = n
	}
	if !m.Holding {
		s.SilentSince = g.env.clock.At(m.Since)
	}
	if m.HasRun {
		s.LastRun = g.env.clock.At(m.LastRun)
	}
	if last := g.history.Last(); g.cfg.onDemand() && last.After(s.LastRun) {
		s.LastRun = last // a run that does not count for min_interval is in no record
	}
	if m.HasRun && m.NextRun < policy.Never {
		s.NextRun = g.env.clock.At(m.NextRun)
	}
	s.LastSuccess = g.saver.record.LastSuccess
	if g.saver.err != nil {
		s.SaveError = g.saver.err.Error()
	}
	if g.saver.busy() {
		s.SavingSince = g.saver.since
	}
	if g.hasLast && g.run == nil {
		s.LastTook, s.LastExit = control.Duration(g.last.Took), exitText(&g.last)
	}
	if g.run == nil {
		s.NotRunning = m.Why
		g.situation(&s, m.Bar, facts, around).explain()
	}
	return s
}

// whereabouts says where the token of m is.
func (g *gate) whereabouts(m *policy.Status, facts []policy.Fact) control.Whereabouts {
	w := control.Whereabouts{Holding: m.Holding}
	if m.Token.Seq != 0 {
		w.Token, w.Seq = m.Token.ID.String(), uint64(m.Token.Seq)
		w.SeqText = strconv.FormatUint(w.Seq, 10)
	}
	for i := range facts {
		switch f := &facts[i]; {
		case f.Slot != m.Token.Slot:
		case f.Key == policy.KeyGuards:
			w.Guards = true
		case f.Key == policy.KeyGuardian:
			w.Guardians = append(w.Guardians, control.Guardian{Member: f.Member.String(), Name: g.nameOf(f.Member)})
		}
	}
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

// describe writes a member as this agent sees it. It is safe for concurrent use.
func (a *Agent) describe(m *membership.Member) control.Member {
	entry := control.Member{
		Name: m.Name, Member: m.ID.String(), Address: m.Addr.String(), State: m.State.String(), Since: m.Since, SilentSince: m.SilentSince, Self: m.ID == a.self,
		Gates: []string{},
	}
	if line, err := trust.Line(m.Name, m.Key); err == nil {
		entry.KnownHosts = strings.TrimSpace(line)
	}
	for _, g := range *a.listed.Load() {
		if m.Has(g.id) {
			entry.Gates = append(entry.Gates, g.cfg.Name)
		}
	}
	return entry
}

// statusLine is one line for the service manager.
func (a *Agent) statusLine() string {
	var line strings.Builder
	fmt.Fprintf(&line, "%d members", max(len(a.view.Members), 1))
	for _, g := range a.gates {
		line.WriteString("; " + g.statusLine())
	}
	return line.String()
}

// statusLine is a gate in few words.
func (g *gate) statusLine() string {
	var s policy.Status
	g.reads(func() { s = g.machine.Status(g.env.clock.Now().Time) })
	phase := s.Phase
	if phase == control.Absent {
		phase = "the token is elsewhere"
	}
	if s.HasRun {
		phase += ", last run " + g.env.clock.At(s.LastRun).Format(time.RFC3339)
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

// commandText is how a command has ended. No exit status has a meaning but for its caller.
func commandText(r *hook.Result) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return control.ExitOK
}
