package metrics

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// collect writes an agent's status as metrics.
func (p *page) collect(s *control.Status) {
	fleet := sink{page: p}
	fleet.send("info", "The agent: always 1.", gauge, 1, label{"version", s.Version}, label{"name", s.Name},
		label{"member", s.Member})
	fleet.value("members", "Members of the fleet that this one sees, itself among them.", float64(s.Members))
	fleet.value("warnings", "Signs of mistakes that an operator can correct: see wanderd status.",
		float64(len(s.Warnings)))
	fleet.count("datagrams_dropped_total", "Datagrams that were dropped.", "reason", s.Dropped)
	fleet.count("gossip_oddities_total", "What was strange in the gossip.", "kind", s.Gossip)
	for receiver, e := range s.Events {
		of := sink{page: p, labels: []label{{"receiver", receiver}}}
		of.count("events_total", "Events by their end: delivered, failed (refused, or too old), dropped (no room).",
			"how", map[string]uint64{"delivered": e.Delivered, "failed": e.Failed, "dropped": e.Dropped})
		of.value("events_waiting", "Events that wait for their receiver.", float64(e.Waiting))
	}
	for i := range s.Gates {
		p.collectGate(&s.Gates[i])
	}
}

func (p *page) collectGate(g *control.Gate) {
	gate := sink{page: p, labels: []label{{"gate", g.Name}}}
	gate.value("gate_members", "Members of the gate that this one sees.", float64(g.Members))
	gate.value("callers", "Commands of wanderd exec that wait or run.", float64(len(g.Callers)))
	collectWaits(&gate, g)
	gate.is("running", "1 while the hook or a command runs.", g.Running)
	gate.is("paused", "1 while an operator or the brake has paused the gate, on all hosts or on this one.",
		g.Paused != nil || g.PausedHere != nil)
	gate.value("failing_hosts", "Hosts whose last runs have failed in a row, in the whole gate.",
		float64(len(g.Failing)))
	collectKept(&gate, g)
	gate.is("token_held", "1 while this member holds a token.", g.Holding)
	gate.is("window_open", "1 while a run may begin: a window is open, or the gate has none.", len(g.Windows) == 0 ||
		g.WindowOpen)
	gate.is("guarding", "1 while this member keeps a copy of a token that another one holds.", g.Keeps)
	gate.send("faults_total", "Faults in this program that the gate has met: above 0 it is closed on this host.",
		counter, float64(g.Faults))
	gate.is("save_failing", "1 while the start of a run cannot be recorded, so that none begins.", g.SaveError != "")
	seen := g.SilentSince
	if g.Holding {
		seen = time.Now()
	}
	gate.at("token_last_seen_timestamp_seconds",
		"When this member last held a token or knew a holder: now, while it does.", seen)
	gate.at("last_run_timestamp_seconds", "When the hook last began to run; in a gate without one, a command.",
		g.LastRun)
	gate.at("last_success_timestamp_seconds", "When the last run succeeded, also before a restart.", g.LastSuccess)
	gate.at("next_run_timestamp_seconds", "From when this member is due again.", g.NextRun)
	gate.count("runs_total", "Runs of the hook that have ended, by their result.", "result", g.Results)
	gate.count("commands_total", "Commands of wanderd exec that have ended, by their result.", "result",
		g.CommandResults)
	if g.Ready != nil {
		gate.count("ready_total", "What this host has said to the question whether it needs a run: yes, no, or error.",
			"answer", g.Ready.Answers)
		gate.is("ready", "1 while this host has said that it needs a run.", g.Ready.Counts)
	}
	gate.count("tokens_taken_total", "Tokens that came to this member: received, made or revived.", "how", g.Taken)
	gate.count("tokens_given_total", "Tokens that left this member: passed on, or given up.", "why", g.Given)
	gate.count("events_total", "What the gate's protocol has told: see the log for each.", "event", g.Notes)
	gate.count("messages_sent_total", "Messages of the gate's protocol that were sent. If its token is called, a Call "+
		"asks for it, and a home answers with Queued.", "kind", g.Sent)
	gate.count("messages_received_total", "Messages of the gate's protocol that were received and are genuine.",
		"kind", g.Received)
	if g.Load > 0 {
		gate.value("load", "op × members / min_interval / slots: above 1 the fleet cannot keep up.", g.Load)
	}
	gate.takes("lap_seconds", "How long a lap of the token takes.", g.Lap)
	gate.takes("op_seconds", "How long a run typically takes.", g.Op)
	gate.takes("regenerate_after_seconds", "After how long without a token this member makes a new one.",
		g.RegenerateAfter)
}

// collectKept writes whether grants outlive their hosts.
func collectKept(gate *sink, g *control.Gate) {
	own, away := false, 0
	for i := range g.Kept {
		if own = own || g.Kept[i].Self; g.Kept[i].IsAway() {
			away++
		}
	}
	gate.is("grant_kept", "1 while this host has a grant that outlives it: the others wait for its end.", own)
	gate.value("hosts_away", "Hosts that are away under such a grant, as far as this member knows.", float64(away))
}

// collectWaits writes who waits: the callers of this host, and, if this member keeps a queue of a token that is called,
// the members in it.
func collectWaits(gate *sink, g *control.Gate) {
	waiting, oldest := 0, time.Time{}
	for i := range g.Callers {
		if c := &g.Callers[i]; !c.Running {
			waiting++
			oldest = earlier(oldest, c.Since)
		}
	}
	gate.value("callers_waiting", "Commands of wanderd exec that wait on this host.", float64(waiting))
	gate.at("oldest_caller_timestamp_seconds", "Since when the oldest of these has waited.", oldest)
	queues, waiters, first := false, 0, time.Time{}
	for _, c := range g.CalledTokens() {
		if c.Queue == nil {
			continue
		}
		queues = true
		waiters += c.Queue.Waiters
		for _, o := range c.Queue.Oldest {
			first = earlier(first, o.Since)
		}
	}
	if queues {
		gate.value("waiters", "Members that wait for the token, as this home, holder or guardian knows.",
			float64(waiters))
		gate.at("oldest_waiter_timestamp_seconds", "Since when the oldest of these has waited.", first)
	}
}

// earlier returns the earlier of two times that are known.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// sink writes metrics that have some labels in common.
type sink struct {
	page   *page
	labels []label
}

func (s sink) send(name, help string, kind kind, v float64, more ...label) {
	s.page.family("wanderd_"+name, help, kind).sample("", v, append(slices.Clip(s.labels), more...)...)
}

func (s sink) value(name, help string, v float64) { s.send(name, help, gauge, v) }

func (s sink) is(name, help string, yes bool) {
	v := 0.0
	if yes {
		v = 1
	}
	s.value(name, help, v)
}

// at writes a time, unless it is unknown.
func (s sink) at(name, help string, t time.Time) {
	if !t.IsZero() {
		s.value(name, help, float64(t.UnixNano())/1e9)
	}
}

// takes writes a duration, unless it is unknown.
func (s sink) takes(name, help string, t control.Duration) {
	if t > 0 {
		s.value(name, help, time.Duration(t).Seconds())
	}
}

// count writes counters, one for each kind.
func (s sink) count(name, help, by string, counts map[string]uint64) {
	for kind, n := range counts {
		s.send(name, help, counter, float64(n), label{by, kind})
	}
}
