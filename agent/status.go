package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/membership"
)

// source serves the control socket: see [control.Source]. It reads the state on the loop, so an answer is a consistent
// snapshot.
type source struct{ a *Agent }

func (s source) Status(ctx context.Context) (control.Status, error) {
	return ask(ctx, s.a, func() control.Status {
		status := s.a.status()
		status.Forgotten = s.a.forgotten.members()
		return status
	})
}

func (s source) Now(ctx context.Context) (control.Now, error)     { return s.a.fleet.Now(ctx) }
func (s source) Fleet(ctx context.Context) (control.Fleet, error) { return s.a.fleet.Status(ctx) }

func (s source) Members(ctx context.Context) (control.Members, error) {
	return ask(ctx, s.a, func() (list control.Members) {
		for _, m := range s.a.members.All() {
			list.Members = append(list.Members, s.a.describe(&m))
		}
		list.Forgotten = s.a.forgotten.members()
		return list
	})
}

func (s source) FleetHistory(ctx context.Context, which control.Which) (control.FleetHistory, error) {
	return s.a.fleet.History(ctx, which)
}

// ask runs question on the loop, and returns its answer.
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

// do runs what on the loop.
func do(ctx context.Context, a *Agent, what func() error) error {
	refused, err := ask(ctx, a, what)
	return errors.Join(err, refused)
}

func (a *Agent) status() control.Status {
	silence := a.silence()
	around := gate.Around{Alone: a.sitsAlone(), OtherSecret: a.otherSecret(time.Unix(0, a.clock.Now().Wall))}
	s := control.Status{
		Version: a.cfg.Version, Name: a.cfg.Name, Member: a.self.String(), Address: a.endpoint.Addr.String(),
		Started: a.started, Sealed: a.cfg.Secret != nil,
		TwoSecrets: a.credentials.twoSecrets.Load(), SealedBySecond: a.sealedBySecond(),
		Members: len(a.view.Members), Dropped: a.intake.drops.nonzero(),
		Gossip: a.gossipCounters(), Warnings: a.warnings(silence),
	}
	s.Events, _ = a.events.Report()
	for _, g := range a.gates {
		if !patterns.IsName(g.Name()) && gate.ConfigOf(g).Pattern != "" {
			continue // Nobody here has used it.
		}
		around.CutOff = silence.cutsOff(g.ID())
		g.Reads(func() {
			s.Gates = append(s.Gates, g.Status(&around))
		})
	}
	return s
}

// warnings lists the signs of mistakes, latest first.
func (a *Agent) warnings(silence *silence) []control.Warning {
	now := time.Now()
	list := a.intake.drops.warnings(now)
	if w, lost := a.stateLoss.warning(); lost {
		list = append(list, w)
	}
	if s := a.members.Stats(); s.Foreign > 0 && now.Sub(s.ForeignAt) < suspectFor {
		list = append(list, control.Warning{
			Text: membership.ForeignHint, Count: s.Foreign, Last: s.ForeignAt, From: s.ForeignFrom,
		})
	}
	for _, r := range a.members.Refusals() {
		list = append(list, control.Warning{Text: "cannot join " + r.Join + ": " + r.Reason, Last: r.At})
	}
	_, waiting := a.events.Report()
	list = append(list, waiting...)
	list = append(list, a.credentials.warnings(now)...)
	list = append(list, silence.warnings()...)
	for _, g := range a.gates {
		list = append(list, g.Warnings()...)
	}
	slices.SortStableFunc(list, func(x, y control.Warning) int { return y.Last.Compare(x.Last) })
	return list
}

// gossipCounters returns the counters of membership above zero.
func (a *Agent) gossipCounters() map[string]uint64 {
	s := a.members.Stats()
	all := map[string]uint64{
		"malformed": s.Malformed, "foreign": s.Foreign, "strangers": s.NoPreamble, "untrusted": s.Untrusted,
		"overflow": s.Overflow, "crowded": s.Crowded, "refused": s.Refused, "clock_off": s.Clock,
		"same_name": s.SameName, "same_key": s.SameKey, "log_lost": s.LogLost,
	}
	maps.DeleteFunc(all, func(_ string, n uint64) bool { return n == 0 })
	return all
}

// describe describes a member as this agent sees it. It is safe for concurrent use.
func (a *Agent) describe(m *membership.Member) control.Member {
	entry := control.Member{
		Name: m.Name, Member: m.ID.String(), Address: m.Addr.String(), State: m.State.String(),
		Since: m.Since, SilentSince: m.SilentSince, Self: m.ID == a.self,
		Gates: []string{},
	}
	if line, err := trust.Line(m.Name, m.Key); err == nil {
		entry.KnownHosts = strings.TrimSpace(line)
	}
	for _, g := range *a.listed.Load() {
		if m.Has(g.ID()) && gate.ConfigOf(g).Pattern == "" {
			entry.Gates = append(entry.Gates, g.Name())
		}
	}
	for _, p := range *a.patterns.Load() {
		if m.Has(p.ID) {
			entry.Gates = append(entry.Gates, p.Config.Name)
		}
	}
	return entry
}

// statusLine returns one line for the service manager.
func (a *Agent) statusLine() string {
	var line strings.Builder
	fmt.Fprintf(&line, "%d members", max(len(a.view.Members), 1))
	for _, g := range a.gates {
		if gate.ConfigOf(g).Pattern == "" {
			line.WriteString("; " + g.Line())
		}
	}
	return line.String()
}

func (s source) History(context.Context) (control.History, error) {
	var h control.History
	for _, g := range *s.a.listed.Load() {
		h.Gates = append(h.Gates, g.PastRuns())
	}
	return h, nil
}

func (s source) Metrics() http.Handler { return s.a.metrics.Handler() }

// suspectFor is how long a sign of another secret is believed. While its cause lasts, such a datagram comes every half
// minute, and one a minute is noted.
const suspectFor = 2 * time.Minute

// otherSecret returns the address of the last host that seemed to have another secret; empty if that was too long ago.
func (a *Agent) otherSecret(now time.Time) string {
	if s := a.members.Stats(); s.Foreign > 0 && now.Sub(s.ForeignAt) < suspectFor {
		return s.ForeignFrom
	}
	for _, why := range secretDrops() {
		if from, at := a.intake.drops.lastOf(why); now.Sub(at) < suspectFor {
			return from
		}
	}
	return ""
}
