package wander

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/window"
)

// Settings are the settings of a gate, the same on all its members. Config explains them. It implements [policy.Protocol].
type Settings struct {
	Skip, Op, MinInterval, RetryAfter, MaxInterval time.Duration
	// Windows are when members may run; none is always.
	Windows window.Set
	Walk    Walk
	// Slots is how many tokens the gate has: 1 to wire.MaxSlots; zero stands for one.
	Slots        int
	Backups      int
	OnLost       OnLost
	AskBeforeRun bool
}

var _ policy.Protocol = Settings{}

// Family returns the family of the soft gate.
func (Settings) Family() policy.Family { return Family() }

// Machine returns the machine of a member.
func (s Settings) Machine(seat policy.Seat) policy.Machine {
	return NewGate(Config{
		Gate: seat.Gate, Self: seat.Self, WaitAlone: seat.WaitsAlone, Rejoins: seat.Rejoins, Entropy: seat.Entropy,
		Skip: s.Skip, Op: s.Op, MinInterval: s.MinInterval, RetryAfter: s.RetryAfter, MaxInterval: s.MaxInterval,
		Walk: s.Walk, Backups: s.Backups, OnLost: s.OnLost, AskBeforeRun: s.AskBeforeRun, OnDemand: seat.OnDemand, Windows: pace.WindowsOf(s.Windows),
	}, max(s.Slots, 1))
}

// SaveWithin is half a skip: see [SaveWithin].
func (s Settings) SaveWithin() time.Duration { return SaveWithin(s.Skip) }

// OrphanGrace is a tenth of the guardians' patience: see [OrphanGrace].
func (s Settings) OrphanGrace() time.Duration { return OrphanGrace(s.Skip) }
