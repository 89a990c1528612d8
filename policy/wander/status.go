package wander

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// The reasons why a member does not run its operation now, as clauses that complete "not running because …"; packages
// soft and pace have others.
const (
	// WhyRunning: it runs.
	WhyRunning = "running"
	// WhyNoToken: it is due, and waits for the token.
	WhyNoToken = "due, waiting for the token"
	// WhyPassing: it is due only after this token has been passed on.
	WhyPassing = "passing the token on"
	// WhyAlone: it belongs to a fleet, and has seen no other member of it since it started.
	WhyAlone = "has not seen any other member yet (see --alone)"
	// WhyLeaving: it is stopping.
	WhyLeaving = "leaving"
	// WhySaving: it is due, and the start of its run is being saved.
	WhySaving = "due, recording the start"
	// WhyAsking: it is due, and asks whether another member runs.
	WhyAsking = "due, asking the other members"
)

// Detail is the status of a soft gate, including what other protocols do not have.
type Detail struct {
	policy.Status
	// Load is what the token carries: see [RouteOf], [AgeOf], [OpOf].
	Load wire.Load
	// LastTo is the member to which the last token went. Keeps is true if this member keeps a copy of a token that
	// another member holds; KeepsFor is that holder, as far as this member has heard.
	LastTo, KeepsFor wire.MemberID
	Keeps            bool
	// RegenerateAt is when this member makes a new token if none comes; it is set if RegenerateArmed is.
	RegenerateAt    policy.Time
	RegenerateArmed bool
	// RegenerateAfter is the adaptive Δgen, MaxInterval the Δmax in force.
	RegenerateAfter, MaxInterval time.Duration
	// Lap is what a lap of the token takes, as this member sees it; zero while it does not know.
	Lap time.Duration
	// TooShort names the constant that the operator has set too short for such laps: "max_interval" or "op"; empty if
	// none is.
	TooShort string
	// Op is the Δop in force, and OpSource where it comes from.
	Op       time.Duration
	OpSource OpSource
	// RoundTrip is the longest recent time until an answer came; zero if there was none. Patience is the longest time
	// for which this member waits for the answer to an offer.
	RoundTrip, Patience time.Duration
}

// Trail returns the guardians of the token that is held, or was last.
func (d *Detail) Trail() guardian.Trail { return guardian.TrailOf(&d.Load) }

// DetailOf describes one slot of a member whose machine is of this package; it is zero if there is no such slot.
func DetailOf(m policy.Machine, slot int, now policy.Time) Detail {
	switch m := m.(type) {
	case *Machine:
		if slot == 0 {
			return m.Detail(now)
		}
	case *Slots:
		if slot < len(m.machines) {
			return m.slot(slot).Detail(now)
		}
	}
	return Detail{}
}

// Status describes this member.
func (m *Machine) Status(now policy.Time) policy.Status {
	next := m.schedule.Next(m.cfg.terms(), now, m.unusedUntil(now))
	s := policy.Status{
		Phase: m.custody.doing().String(), Why: m.why(now, next), NextRun: next, Since: m.loss.since(),
		Holding: m.custody.holds(), Token: m.custody.last().Ref, Holder: m.custody.wentTo(),
	}
	s.LastRun, s.HasRun = m.schedule.LastRun()
	keepsFor, keeps := m.guardian.Keeps()
	switch {
	case m.custody.holds():
		s.Holder = m.cfg.Self
	case keeps && !keepsFor.IsZero():
		s.Holder = keepsFor
	}
	return s
}

// Detail describes this member in full.
func (m *Machine) Detail(now policy.Time) Detail {
	o := m.outlook()
	d := Detail{
		Status: m.Status(now), Load: m.custody.last().Load, LastTo: m.custody.wentTo(),
		RegenerateAfter: m.loss.regenerateAfter(&o), MaxInterval: o.maxInterval(), Lap: m.measures.lap(),
		TooShort:        m.measures.tooShort(&m.cfg, m.walk.Count()),
		RegenerateArmed: m.custody.in(absent) && m.loss.regenerates(&o),
		RegenerateAt:    m.loss.regenerateAt(&o),
		RoundTrip:       m.handoff.RoundTrip(),
		Patience:        m.handoff.Patience(),
	}
	d.Op, d.OpSource = m.measures.opFrom(&m.cfg)
	d.KeepsFor, d.Keeps = m.guardian.Keeps()
	return d
}

// Facts appends the facts of a soft gate.
func (m *Machine) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	return m.custody.facts(now, m.cfg.Slot, &m.guardian, m.schedule.WindowFacts(now, m.paceFacts(now, out)))
}

// paceFacts are about settings and times.
func (m *Machine) paceFacts(now policy.Time, out []policy.Fact) []policy.Fact {
	d := m.Detail(now)
	rule := m.measures.maxIntervalRule(&m.cfg, m.walk.Count())
	out = append(out,
		policy.Fact{Key: policy.KeyWalk, Text: m.cfg.Walk.String()},
		policy.Fact{Key: policy.KeySkip, For: m.cfg.Skip},
		policy.Fact{Key: policy.KeyMinInterval, For: m.cfg.MinInterval},
		policy.Fact{Key: policy.KeyBackups, Count: m.cfg.Backups},
		policy.Fact{Key: policy.KeyOnLost, Text: m.cfg.OnLost.String()},
		policy.Fact{Key: policy.KeyAskBeforeRun, Text: strconv.FormatBool(m.cfg.AskBeforeRun)},
		policy.Fact{Key: policy.KeyOp, For: d.Op, Text: d.OpSource.String()},
		policy.Fact{Key: policy.KeyMaxInterval, For: d.MaxInterval, Text: rule},
		policy.Fact{Key: policy.KeyRegenerateAfter, For: d.RegenerateAfter})
	if d.RegenerateArmed {
		out = append(out, policy.Fact{Key: policy.KeyRegenerateAt, At: d.RegenerateAt})
	}
	out = m.schedule.Facts(m.cfg.terms(), now, out)
	if d.Lap > 0 {
		out = append(out, policy.Fact{Key: policy.KeyLap, For: d.Lap})
	}
	if d.TooShort != "" {
		out = append(out, policy.Fact{Key: policy.KeyTooShort, Text: fmt.Sprintf(
			"a lap of the token takes %s, and %s is set too short for that: raise it, or leave it out",
			d.Lap.Round(time.Second), d.TooShort)})
	}
	if TooShort(m.cfg.Skip, d.RoundTrip) {
		out = append(out, policy.Fact{Key: policy.KeyRoundTrip, For: d.RoundTrip.Round(time.Millisecond)},
			policy.Fact{Key: policy.KeyLeastSkip, For: LeastSkip(d.RoundTrip)})
	}
	if m.loss.waitsAlone(&m.cfg) && m.cfg.Rejoins {
		out = append(out, policy.Fact{
			Key: policy.KeyWaitsForFleet, For: d.RegenerateAfter,
			Text: "waiting for the fleet it was in; then continues alone (--alone run does so at once)",
		})
	}
	return out
}

func (m *Machine) why(now, next policy.Time) string {
	why := m.schedule.Why(m.cfg.terms(), now, next)
	switch {
	case m.custody.in(running):
		return WhyRunning
	case m.custody.granting():
		return WhySaving
	case m.custody.in(asking):
		return WhyAsking
	case m.custody.leaves():
		return WhyLeaving
	case m.loss.waitsAlone(&m.cfg):
		return WhyAlone
	case m.custody.holds() && now < m.guardian.Unused():
		return soft.WhyUnused
	case why != "":
		return why
	case m.custody.holds():
		return WhyPassing
	}
	return WhyNoToken
}
