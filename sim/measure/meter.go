package measure

import (
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Config configures a [Meter].
type Config struct {
	// Members is the number of members.
	Members int
	// Slots is how many tokens the gate has. Zero means one.
	Slots int
	// Quiet is Δmax, the max_interval in force. After a loss, the fleet is stable when there has been exactly one token
	// of each slot for that long.
	Quiet time.Duration
	// Good is Δmin. After a loss, a token is one for good when it has been the only one of its slot for that long.
	Good time.Duration
	// Bin is the width of the bins of the histogram of intervals. Zero stands for the paper's 500 s.
	Bin time.Duration
	// Unit is the width of the units of [Meter.Busy]. It is zero if that is not called.
	Unit time.Duration
}

// Meter measures one run. It is a [sim.Watcher] that never has an error.
type Meter struct {
	cfg        Config
	began      policy.Time
	operations operations
	custody    custody
	live       levels
	recovery   recovery
	hops       int
	messages   int
}

// New returns a meter for one run. It must watch from the beginning.
func New(cfg Config) *Meter {
	slots := max(cfg.Slots, 1)
	return &Meter{
		cfg: cfg, recovery: recovery{quiet: cfg.Quiet},
		operations: operations{
			members: make([]operator, cfg.Members), concurrency: NewConcurrency(), intervals: newIntervals(cfg.Bin),
			busy: busy{unit: cfg.Unit},
		},
		custody: custody{
			quiet: cfg.Quiet, members: make([]keeper, cfg.Members), bySlot: make([]int, slots),
			losses: losses{good: cfg.Good, slots: make([]loss, slots)},
		},
	}
}

// Watch implements [sim.Watcher].
func (m *Meter) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if c != nil {
		m.custody.world = c
	}
	m.operations.watch(o)
	switch o.Kind {
	case sim.Stepped:
		m.step(o)
	case sim.Came:
		m.custody.members[o.Member].up = true
	case sim.Crashed, sim.Departed:
		m.custody.end(o.At, o.Member)
	case sim.Ignored:
		m.custody.stepped(o.At, o.Member)
	case sim.Lost, sim.Duplicated, sim.Played, sim.RunGone, sim.Paused, sim.Slept, sim.Cut, sim.Healed:
		return nil
	}
	if m.custody.alive != m.live.level {
		m.live.set(o.At, m.custody.alive)
	}
	m.recovery.set(o.At, m.custody.tokens(), m.custody.diedAt)
	return nil
}

func (m *Meter) step(o *sim.Occurrence) {
	for i := range o.Effects {
		switch e := &o.Effects[i]; e.Kind {
		case policy.Send:
			m.messages++
			m.custody.sent(o, &e.Msg)
		case policy.Took:
			if e.Cause == policy.CauseReceived {
				m.hops++
			}
			m.custody.took(o, e)
		case policy.Gave:
			m.custody.gave(o, e)
		case policy.Save, policy.Run, policy.Extend, policy.Stop, policy.PreSign, policy.Announce, policy.Tell,
			policy.Gone, policy.Proclaim:
		}
	}
	m.custody.stepped(o.At, o.Member)
}

// Begin starts the measurement again: nothing before now counts, except which members run or hold a token, and when
// each last ran.
func (m *Meter) Begin(now policy.Time) {
	m.began = now
	m.hops, m.messages = 0, 0
	m.operations.begin(now)
	m.custody.begin()
	m.live.begin(now)
	m.recovery.begin()
}

// Stable reports whether there has been exactly one token of each slot for Quiet.
func (m *Meter) Stable(now policy.Time) bool { return m.recovery.stable(now) }

// Recoveries returns how long each recovery took that began and ended in the measured time, in order: from the loss of
// the last token of a slot until the moment from which exactly one of each slot existed for at least Quiet.
func (m *Meter) Recoveries(now policy.Time) []time.Duration {
	m.recovery.settle(now)
	return slices.Clone(m.recovery.stabilised)
}

// Busy returns how much operation time there was in each unit since the measurement began. The last unit may not be
// over.
func (m *Meter) Busy(now policy.Time) []time.Duration {
	m.operations.busy.spend(now, m.operations.concurrency.levels.level)
	return slices.Clone(m.operations.busy.units)
}

// Figures returns the measurements until now. The run may go on afterwards.
func (m *Meter) Figures(now policy.Time) Figures {
	m.recovery.settle(now)
	for i := range m.custody.losses.slots { // The last change may be long ago.
		m.custody.losses.settle(now, &m.custody.losses.slots[i])
	}
	whole := now.Sub(m.began)
	running := m.operations.concurrency.Spent(now)
	f := Figures{
		Duration: seconds(whole), WarmUp: seconds(m.began.Sub(0)),
		Concurrency: levelTable(running),
		Utilisation: share(sum(running, 1), whole), Overlap: share(sum(running, max(m.cfg.Slots, 1)+1), whole),
		Operations: Number(m.operations.started),
		Interval:   m.operations.intervals.figures(),
		Tokens: Tokens[Number]{
			Generated: Number(m.custody.generated), Revived: Number(m.custody.revived),
			Removed: Number(m.custody.removed), Lost: Number(m.custody.lost),
			Live: levelTable(m.live.until(now)),
		},
		Hops: Number(m.hops), Messages: Number(m.messages), MessagesPerOperation: Number(math.NaN()),
		Recovery: SpreadOf(m.recovery.stabilised), Tokenless: SpreadOf(m.recovery.tokenless),
		HeldAgain: SpreadOf(m.custody.losses.held), OneForGood: SpreadOf(m.custody.losses.single),
	}
	f.Interval.Open = seconds(m.operations.open(now))
	if m.operations.started > 0 {
		f.MessagesPerOperation = f.Messages / f.Operations
	}
	return f
}

func seconds(d time.Duration) Number { return Number(d.Seconds()) }

func share(part, whole time.Duration) Number {
	if whole <= 0 {
		return Number(math.NaN())
	}
	return Number(float64(part) / float64(whole))
}

// sum returns the time spent at level from or above.
func sum(spent []time.Duration, from int) time.Duration {
	total := time.Duration(0)
	for _, d := range spent[min(from, len(spent)):] {
		total += d
	}
	return total
}

func levelTable(spent []time.Duration) Table[Number] {
	for len(spent) > 1 && spent[len(spent)-1] == 0 {
		spent = spent[:len(spent)-1]
	}
	t := make(Table[Number], len(spent))
	for level, d := range spent {
		t[level] = Entry[Number]{Key: float64(level), Value: seconds(d)}
	}
	return t
}
