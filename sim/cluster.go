package sim

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Config describes a world. The zero value of everything but Members and Machine is a world without faults.
type Config struct {
	// Seed determines all random choices, until another seed does.
	Seed    uint64
	Reseed  Reseed
	Members int
	Order   Order
	// Machine makes a member's machine each time the member starts.
	Machine func(Env) policy.Machine
	// Descriptor is the descriptor of the machines' protocol.
	Descriptor policy.Descriptor
	Network    Network
	Membership Membership
	Hook       Hook
	// OrphanGrace is how long a run goes on after its agent has died: its guard waits this long for its end, and then
	// kills it.
	OrphanGrace time.Duration
	Disk        Disk
	Demand      Demand
	Operators   Operators
	Ready       Ready
	Shape       Shape
	// Clocks are the members' clocks. Members beyond its end have true clocks.
	Clocks []Clock
	// AskFirst makes the shells call Expects first and drop messages that are not expected, as the agent does.
	AskFirst bool
	// Outsiders is true if the fleet has other hosts, without the gate, which each member's host sees.
	Outsiders bool
	// EarlyWakes is the probability of an early wake-up before a message.
	EarlyWakes float64
	// StopTimeout bounds a graceful stop: a member that has not left by then is killed. Zero means no bound.
	StopTimeout time.Duration
	// Watchers are called for every occurrence, in this order.
	Watchers []Watcher
}

// Env is what a machine is given. All machines share one Entropy: a member's draws depend on those of the others, but a
// run still depends on its seed alone.
type Env struct {
	Index int
	policy.Env
}

func theGate() wire.GateID { return wire.GateIDOf("default") }

// member is one machine's shell and the host around that shell. There may be a million of them, so fields that only few
// members need are elsewhere.
type member struct {
	// The fields that every step reads come first, in one cache line.
	machine policy.Machine
	// awayUntil is when a paused or sleeping member goes on. asleep is true if it sleeps.
	awayUntil policy.Time
	// life counts the starts of the process. up is true while the process exists.
	life int32
	// crashBefore, if positive, counts effects from now on: the process dies before the effect with that number.
	crashBefore int32
	up, asleep  bool
	// hands is the number of tokens that the member holds.
	hands int8
	// hasSeenOthers is what an agent remembers of its fleet: whether it has ever seen another member. It survives a
	// crash.
	hasSeenOthers bool
	// leaving is true once the machine has been told to leave. After the end of the process it means that the member
	// left in order.
	leaving bool
	// forgets is true while the process is down, and finds nothing of what it had saved when it starts.
	forgets bool
	id      wire.MemberID
	seen    view
	run     run
	// disk is the state that survives a crash.
	disk policy.State
}

// Cluster is a world at one moment of virtual time.
type Cluster struct {
	cfg     Config
	now     policy.Time
	seq     uint64
	steps   uint64
	members []member
	queue   queue
	// hands is the number of tokens that all members hold together.
	hands  int
	alarms alarms
	mail   slab[letter]
	calls  slab[func()]
	// preSigned are the messages of the runs' guards, by member.
	preSigned map[int32][]wire.Message
	net       network
	views     views
	watchers  []Watcher
	failure   error
	// savings are the states of the members' saves. It is empty while all disks take no time.
	savings map[int32]*saving
	// callers are the callers of each member. It is nil if there is no demand.
	callers    []callers
	directives directives
	questions  questions
	shells     shells
	// faults are those that have been started. outside are the members outside of a core: see [Cluster.HealCore].
	faults  *faults
	outside map[int]bool
	// backlogs are how many datagrams wait for members that are paused.
	backlogs map[int32]int

	// machineDice is the source of the machines' random choices. Each kind of choice has a source of its own, so that
	// one more fault does not change the others.
	machineDice                                         *rand.PCG
	netDice, hookDice, memberDice, diskDice, demandDice *rand.Rand
	// marks are told of the rare branches of all machines; nil if nobody listens.
	marks    *marks.Set
	event    policy.Event
	effects  []policy.Effect
	seen     Occurrence
	status   policy.Status
	statusOf int32
	// slot is the slot that a watcher sees. statusSlot is the slot of status.
	slot, statusSlot int
}

// New makes a world. No member has started.
func New(cfg Config) *Cluster {
	c := &Cluster{
		cfg: cfg, members: make([]member, cfg.Members), alarms: newAlarms(cfg.Members), watchers: cfg.Watchers,
		machineDice: rand.NewPCG(cfg.Seed, Mix(machineLabel)), marks: listenerOf(cfg.Watchers),
		statusOf: absent, preSigned: map[int32][]wire.Message{}, savings: map[int32]*saving{},
		backlogs: map[int32]int{},
	}
	for i := range c.members {
		c.members[i].id = Identity(cfg.Order, cfg.Seed, i)
	}
	if cfg.Demand.Every > 0 {
		c.callers = make([]callers, cfg.Members)
	}
	if cfg.Operators != (Operators{}) || cfg.Shape.Canaries > 0 {
		c.directives = directives{layers: make([]*directive.Layer, cfg.Members)}
	}
	if cfg.Ready != (Ready{}) {
		c.questions = questions{each: make([]question, cfg.Members)}
	}
	c.shells = newShells(&c.cfg)
	c.net = network{
		Network: cfg.Network, latest: map[link]policy.Time{}, lastFrom: make([]policy.Time, cfg.Members),
		oneWay: oneWay{deaf: map[int]bool{}, mute: map[int]bool{}, apart: map[link]bool{}},
	}
	c.net.adversary.listen(cfg.Descriptor.Kinds)
	c.views = newViews(c.members)
	c.throw(cfg.Seed)
	c.reseeds(cfg.Reseed)
	return c
}

// Err returns the first error of a watcher, which names the broken rule.
func (c *Cluster) Err() error { return c.failure }

// Now returns the virtual time.
func (c *Cluster) Now() policy.Time { return c.now }

// Steps returns how many steps the machines have taken.
func (c *Cluster) Steps() uint64 { return c.steps }

// Members returns how many members there can be.
func (c *Cluster) Members() int { return len(c.members) }

// ID returns the identity of member i.
func (c *Cluster) ID(i int) wire.MemberID { return c.members[i].id }

// Up reports whether member i's process exists.
func (c *Cluster) Up(i int) bool { return c.members[i].up }

// Away reports whether member i is paused or asleep.
func (c *Cluster) Away(i int) bool { return c.members[i].awayUntil > c.now }

// AwayUntil returns when member i goes on, if it is paused or asleep.
func (c *Cluster) AwayUntil(i int) policy.Time { return c.members[i].awayUntil }

// Running reports whether member i's shell takes the operation to be still running.
func (c *Cluster) Running(i int) bool { return c.members[i].run.active }

// Operating reports whether the operation of member i, whose process exists, is really running. Its shell may learn of
// the end later.
func (c *Cluster) Operating(i int) bool {
	r := &c.members[i].run
	return r.active && !r.denied && c.now < r.end()
}

// Machine returns the machine of member i, which must be up.
func (c *Cluster) Machine(i int) policy.Machine { return c.members[i].machine }

// Descriptor returns the descriptor of the machines' protocol.
func (c *Cluster) Descriptor() *policy.Descriptor { return &c.cfg.Descriptor }

// Disk returns the state that member i has saved.
func (c *Cluster) Disk(i int) policy.State { return c.members[i].disk }

// SetDiskState gives member i, which has not been up yet, the saved state of an earlier life.
func (c *Cluster) SetDiskState(i int, s policy.State) { c.members[i].disk = s }

// Expects reports whether m would have any effect on member i now. The member must be up.
func (c *Cluster) Expects(i int, m *wire.Message) bool { return c.members[i].machine.Expects(m) }

// Status returns the status of member i, which must be up. It is valid until the next step. In a gate with several
// tokens it is the status of the slot whose watcher asks.
func (c *Cluster) Status(i int) *policy.Status { return c.SlotStatus(i, c.slot) }

// SlotStatus returns the status of one slot of member i, which must be up. It is empty if the member has no such slot.
// It is valid until the next step.
func (c *Cluster) SlotStatus(i, slot int) *policy.Status {
	if who := int32(i); c.statusOf != who || c.statusSlot != slot {
		c.status = slotStatus(c.members[i].machine, slot, c.Instant(i).Time)
		c.statusOf, c.statusSlot = who, slot
	}
	return &c.status
}

// Slot returns the slot that a watcher sees; see [EachSlot].
func (c *Cluster) Slot() int { return c.slot }

// At calls do at the given time, which must not be in the past.
func (c *Cluster) At(at policy.Time, do func()) {
	slot := c.calls.reserve()
	c.calls.items[slot] = do
	c.push(entryCall, at, 0, slot)
}

// After calls do after d.
func (c *Cluster) After(d time.Duration, do func()) { c.At(c.now.Add(d), do) }

// Run lets time pass until the given moment, and returns the first error of a watcher. After an error the world stands
// still.
func (c *Cluster) Run(until policy.Time) error {
	_, err := c.RunFor(context.Background(), until, nil)
	return err
}

// patience is the number of events between two checks of the context: some milliseconds' worth.
const patience = 1 << 14

// RunFor is Run with a context. It returns the time that was reached, and the error of a watcher, if there was one.
// That time is earlier than until if ctx is cancelled or a watcher has an error.
//
// progress, if not nil, is called now and then with the time that was reached. It should return soon.
func (c *Cluster) RunFor(ctx context.Context, until policy.Time, progress func(now policy.Time)) (policy.Time, error) {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return c.now, err
		}
		for left := patience; more && left > 0; left-- {
			more = c.next(until)
		}
		if progress != nil {
			progress(c.now)
		}
	}
	if c.failure == nil {
		c.now = max(c.now, until) // No event is left before it.
	}
	return c.now, c.failure
}

// NextAt returns when something happens next; Never if nothing does, or if a rule was broken.
func (c *Cluster) NextAt() policy.Time {
	at := policy.Never
	if c.failure != nil {
		return at
	}
	if first := c.queue.first(); first != nil {
		at = first.at
	}
	if len(c.alarms.heap) > 0 {
		at = min(at, c.alarms.heap[0].at)
	}
	return at
}

// next lets the next event happen. It does nothing if that event is after until, or if a rule was broken.
func (c *Cluster) next(until policy.Time) bool {
	if c.failure != nil {
		return false
	}
	first, waking := c.queue.first(), len(c.alarms.heap) > 0
	if first != nil && (!waking || first.before(c.alarms.heap[0].key)) {
		if first.at > until {
			return false
		}
		c.now = first.at
		c.happen(c.queue.pop())
		return true
	}
	if !waking || c.alarms.heap[0].at > until {
		return false
	}
	c.now = c.alarms.heap[0].at
	c.wake(c.alarms.heap[0].who)
	return true
}

func (c *Cluster) happen(e entry) {
	if c.postponed(e) {
		return
	}
	switch e.kind {
	case entryDeliver:
		c.deliver(e.who, e.slot)
	case entryFinished:
		c.finishRun(e.who, e.slot)
	case entryWanted:
		c.wanted(e.who, e.slot)
	case entryUnwanted:
		c.unwanted(e.who, e.slot)
	case entrySaved:
		c.saved(e.who, e.slot)
	case entryView:
		c.giveView(e.who)
	case entryDirective:
		c.hearDirective(e.who)
	case entryAsk:
		c.ask(e.who, e.slot)
	case entryAnswer:
		c.answer(e.who, e.slot)
	case entryLook:
		c.look(e.who, e.slot)
	case entrySideView:
		c.giveSideView(int(e.slot))
	case entryRecheck:
		if e.slot == 0 || e.slot == c.members[e.who].life {
			c.recheck(e.who)
		}
	case entryCall:
		c.calls.take(e.slot)()
	}
}

// push puts an entry into the queue, behind the entries of the same time.
func (c *Cluster) push(kind entryKind, at policy.Time, who, slot int32) {
	c.queue.push(entry{key: c.keyAt(at), kind: kind, who: who, slot: slot})
}

func (c *Cluster) keyAt(at policy.Time) key {
	c.seq++
	return key{at: max(at, c.now), seq: c.seq}
}

// wake wakes a member. One that is away is woken when it is back.
func (c *Cluster) wake(who int32) {
	if m := &c.members[who]; m.awayUntil > c.now {
		c.alarms.set(who, c.keyAt(m.awayUntil))
		return
	}
	c.alarms.goOff()
	c.event.Kind = policy.Woke
	c.step(who, &c.event, about{due: true})
}

// about is what watchers are told about a step in addition: see the fields of Occurrence with these names.
type about struct{ expected, due, atOnce, demanded bool }

// step gives an event to a member's machine and carries out its effects. If a save takes no time, it also carries out
// the effects of Saved.
func (c *Cluster) step(who int32, ev *policy.Event, aside about) {
	c.steps++
	for c.stepOnce(who, ev, aside) {
		ev, aside = &c.event, about{atOnce: true}
	}
	c.sayAgain(who)
	if c.shells.each != nil && c.members[who].up && c.shells.each[who].barred && !c.isHeldUp(who, false) {
		c.event.Kind = policy.Woke // In this step the gate has got fewer tokens.
		c.step(who, &c.event, about{due: true})
	}
}

// stepOnce takes one step, and reports whether another one follows at once.
func (c *Cluster) stepOnce(who int32, ev *policy.Event, aside about) (savedAtOnce bool) {
	m := &c.members[who]
	c.statusOf = absent
	c.tellReady(who)
	c.effects = c.stepping(who).Step(c.Instant(int(who)), ev, c.effects[:0])
	for i := range c.effects {
		if e := &c.effects[i]; e.Kind == policy.Send || e.Kind == policy.PreSign {
			c.cfg.Descriptor.Stamp(&e.Msg)
		}
	}
	effects := c.effects
	crashes := m.crashBefore > 0 && int(m.crashBefore) <= len(effects)
	switch {
	case crashes:
		effects = effects[:m.crashBefore-1]
	case m.crashBefore > 0:
		m.crashBefore -= int32(len(effects))
	}
	if len(c.watchers) > 0 {
		c.tell(Occurrence{
			Kind: Stepped, Member: int(who), Event: ev, Expected: aside.expected, Due: aside.due, AtOnce: aside.atOnce,
			Demanded: aside.demanded,
			Effects:  effects, Of: len(c.effects),
		})
	}
	left, saves := c.perform(who, effects)
	if saves != nil {
		savedAtOnce, c.event.Failed = c.save(who, saves)
	}
	switch {
	case crashes:
		c.Crash(int(who))
	case left:
		c.end(who, Occurrence{Kind: Departed}, c.cfg.Membership.GossipAfter)
	case savedAtOnce:
		c.event.Kind = policy.Saved
		return true
	default:
		c.setAlarm(who)
		c.arrangeQuestion(who)
		c.stand(who)
	}
	return false
}

// perform carries out effects. It reports whether the member has left, and returns the newest state to save, nil if
// there is none.
func (c *Cluster) perform(who int32, effects []policy.Effect) (left bool, saves *policy.State) {
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case policy.Save:
			saves = &e.State
		case policy.Send:
			c.send(&e.Msg)
		case policy.Run:
			clock := c.clockOf(who)
			c.startRun(who, e.Demanded, clock.shows(e.StartBy), clock.shows(e.Until))
		case policy.Extend:
			c.extendRun(who, c.clockOf(who).shows(e.Until))
		case policy.Stop:
			c.stopRun(who)
		case policy.PreSign:
			c.preSign(who, &e.Msg)
		case policy.Announce:
			c.announce(who)
		case policy.Proclaim:
			c.proclaim(who, e.Msg.Directive)
		case policy.Gone:
			left = true
		case policy.Took:
			c.members[who].hands++
			c.hands++
		case policy.Gave:
			c.members[who].hands--
			c.hands--
		case policy.Tell:
		}
	}
	return left, saves
}

func (c *Cluster) setAlarm(who int32) {
	at, ok := c.stepping(who).NextWake()
	if !ok {
		c.alarms.clear(who)
		return
	}
	if at = max(c.clockOf(who).shows(at), c.now); !c.alarms.isAt(who, at) {
		c.alarms.set(who, c.keyAt(at))
	}
}
