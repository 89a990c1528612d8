package call

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

// Settings are the settings of a gate, the same on all its members. It implements [policy.Protocol].
//
// There is no ask_before_run: before every run a member needs the word of a home that it knows no newer copy of the
// token, and no older token (R8). A home does not know all runs: see decision 094.
type Settings struct {
	// Skip is the unit of all waits: see patience.
	Skip time.Duration
	// MinInterval is the least time between two runs of a member's own operation. It may be zero in a gate on demand.
	MinInterval time.Duration
	// RetryAfter is the time from the end of a failed run to the next one. Zero: a failed run counts like any other.
	RetryAfter time.Duration
	// MaxInterval is how long a first home looks for a token in vain before it makes one although not all members have
	// answered.
	MaxInterval time.Duration
	// Windows are the times in which members may run; an empty set means always.
	Windows window.Set
	// Backups is how many homes the token has, 1 to guardian.MaxBackups.
	Backups int
	// Keep is how long a grant outlives the last word of its host, which the operation reboots. Zero: it ends with its
	// agent. Such a gate has one token.
	Keep time.Duration
	// Soak is how long a host soaks at most while it holds the gate, so for how long this member keeps a token unused
	// whose holder has gone in its soak; zero if none soaks.
	Soak time.Duration
	// OnLost is what to do with a run whose token has another holder meanwhile.
	OnLost soft.OnLost
	// Slots is how many tokens the gate has: 1 to wire.MaxSlots; zero stands for one. SlotsShare is for how many of a
	// hundred members it has a token, 1 to 100, at most wire.MaxSlots in all; then Slots does not count.
	Slots, SlotsShare int
}

var _ policy.Protocol = Settings{}

// Descriptor describes the gate to shells and simulator.
func (Settings) Descriptor() policy.Descriptor { return Descriptor() }

// Descriptor describes the gate to shells and simulator.
func Descriptor() policy.Descriptor {
	return policy.Descriptor{
		ID: 4, Name: "call", Version: 1, Kinds: Kinds(),
		Notes: slices.Concat(handoff.Notes(), guardian.Notes(), Notes(), soft.Notes(), pace.Notes(),
			policy.KeptNotes()),
		WellFormed: wellFormed,
		Doubt: func(wall int64, _ bool, s *policy.State) (why string) {
			return soft.Doubt(wall, s, func(l *wire.Load, _ uint8) bool { return guardian.WellFormedTrail(l) })
		},
	}
}

// Machine returns the machine of a member.
func (s Settings) Machine(env policy.Env) policy.Machine {
	return NewGate(Config{Env: env, Settings: &s})
}

// slots is how many tokens the gate has, or may have.
func (s *Settings) slots() int {
	if s.SlotsShare > 0 {
		return wire.MaxSlots
	}
	return max(s.Slots, 1)
}

// SaveWithin is the longest time that a run or a token waits for a save: half the patience of the guardians.
func (s Settings) SaveWithin() time.Duration { return Patience(s.Skip) / 2 }

// OrphanGrace is how long a run may take to end after its agent has died, before its guard kills it.
func (s Settings) OrphanGrace() time.Duration { return Patience(s.Skip) / 10 }

// minPatience is the shortest patience, however short skip is.
const minPatience = 250 * time.Millisecond

// Patience is P: the silence after which a guardian suspects a holder, and the least time for a handoff.
func Patience(skip time.Duration) time.Duration { return max(skip, minPatience) }

// Config is a gate as one member knows it. Its settings are never changed, because members may share them.
type Config struct {
	policy.Env
	*Settings
	// Slot is the slot of this token; zero in a gate with one token.
	Slot uint8
}

// patience is P; part is a share of it.
func (c *Config) patience() time.Duration { return Patience(c.Skip) }

// homes is how many homes the token has.
func (c *Config) homes() int { return min(max(c.Backups, 1), guardian.MaxBackups) }

// terms are what the schedule knows of this gate.
func (c *Config) terms() soft.Terms {
	return soft.Terms{
		Slot: c.Slot, OnDemand: c.OnDemand, Skip: c.Skip, MinInterval: c.MinInterval,
		RetryAfter: c.RetryAfter, Windows: &c.Windows,
	}
}

// Tune takes other constants. Skip and Keep cannot change, because handoffs and guardians depend on them, nor the
// number of slots.
func (m *Machine) Tune(p policy.Protocol) bool {
	s, ok := p.(Settings)
	if !ok || s.Skip != m.cfg.Skip || s.Keep != m.cfg.Keep || s.slots() != m.cfg.slots() ||
		s.SlotsShare != m.cfg.SlotsShare {
		return false
	}
	m.cfg.Settings = &s
	m.schedule.Tune(m.cfg.terms())
	m.guardian.Tune(s.Soak)
	return true
}

var _ policy.Tunable = (*Machine)(nil)
