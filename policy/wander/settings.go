package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/window"
)

// Settings are the settings of a gate, the same on all its members. The time constants are those of the paper's section
// 3. It implements [policy.Protocol].
type Settings struct {
	// Skip is Δskip: "the minimum latency of a token inside a component: this is the time a token will stay in a
	// component if the protected operation is not needed".
	Skip time.Duration
	// Op is Δop: "the typical duration of the protected operation". Zero: the members measure it.
	Op time.Duration
	// MinInterval is Δmin: "the minimum time between two successive protected operations on the same component". It may
	// be zero in a gate on demand.
	MinInterval time.Duration
	// RetryAfter is the time from the end of a failed run to the next one; see interval. Zero: a failed run counts like
	// any other.
	RetryAfter time.Duration
	// MaxInterval is Δmax: the silence after which the loss of the token is suspected. Zero: the default rule, see
	// maxInterval.
	MaxInterval time.Duration
	// Windows are the times in which members may run; an empty set means always.
	Windows window.Set
	// Walk chooses the next member; the zero value is the paper's random walk.
	Walk Walk
	// Slots is how many tokens the gate has: 1 to wire.MaxSlots; zero stands for one. SlotsShare is for how many of a
	// hundred members there is a token, if it is not zero: 1 to 100. Then Slots is zero.
	Slots, SlotsShare int
	// Backups is how many guardians the token has, 0 to guardian.MaxBackups; 0 is the plain paper.
	Backups int
	// OnLost is what to do with a run whose token has another holder meanwhile.
	OnLost soft.OnLost
	// Keep is how long a grant outlives the last word of its host, which the operation reboots. Zero: it ends with its
	// agent. Such a gate has one token.
	Keep time.Duration
	// Soak is how long a host soaks at most while it holds the gate, so for how long this member keeps a token unused
	// whose holder has gone in its soak; zero if none soaks.
	Soak time.Duration
	// AskBeforeRun makes a member that is due ask all others whether one of them runs.
	AskBeforeRun bool
}

var _ policy.Protocol = Settings{}

// Descriptor returns the descriptor of the soft gate.
func (Settings) Descriptor() policy.Descriptor { return Descriptor() }

// Machine returns the machine of a member.
func (s Settings) Machine(env policy.Env) policy.Machine {
	return NewGate(Config{Env: env, Settings: &s}, max(s.Slots, 1))
}

// SaveWithin is the longest time that a run or a token waits for a save: half the patience of the guardians.
func (s Settings) SaveWithin() time.Duration { return Patience(s.Skip) / 2 }

// OrphanGrace is how long a run may take to end after its agent has died, before its guard kills it: a tenth of the
// patience of the token's guardians, which wait for the guard's messages. Without these messages they revive the token
// after five quarters of a patience at the earliest.
func (s Settings) OrphanGrace() time.Duration { return Patience(s.Skip) / 10 }

// Tune takes other constants. A token that rests here is reconsidered at once, because this member may now be due. An
// offer or a run in progress continues with the old constants. Skip and Keep cannot change: handoffs and guardians
// depend on them.
func (m *Machine) Tune(p policy.Protocol) bool {
	s, ok := p.(Settings)
	if !ok || s.Skip != m.cfg.Skip || s.Keep != m.cfg.Keep || s.SlotsShare != m.cfg.SlotsShare ||
		s.SlotsShare == 0 && max(s.Slots, 1) != int(m.cfg.LastSlot)+1 {
		return false
	}
	m.cfg.Settings = &s
	m.schedule.Tune(m.cfg.terms())
	m.guardian.Tune(s.Soak)
	if m.custody.in(resting) {
		m.custody.hurry(math.MinInt64)
	}
	return true
}

// Tune tunes the machines of all slots.
func (s *Slots) Tune(p policy.Protocol) bool {
	for i := range s.machines {
		if !s.machines[i].Tune(p) {
			return false // The first one refuses if any does.
		}
	}
	return true
}

var (
	_ policy.Tunable = (*Machine)(nil)
	_ policy.Tunable = (*Slots)(nil)
)
