package gate

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/policy/holds"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// Gate is one machine and the state of its shell. Only the loop uses it.
type Gate struct {
	env        *Env
	cfg        Config
	id         wire.GateID
	machine    *directive.Layer
	descriptor policy.Descriptor
	log        zerolog.Logger
	// state is the state that was saved last, or will be saved next. At first it is the state after the last run of
	// this agent.
	state policy.State

	// event and effects are reused at every step.
	event   policy.Event
	effects []policy.Effect

	// run is the running hook; nil if there is none.
	run *launch
	// preSigned are the messages for the guard of the running hook.
	preSigned preSigned
	saver     saver
	history   *history.Log
	// endHistory ends the writing of the history.
	endHistory func()
	callers    callers
	directives directives
	asking     asking
	down       down
	watch      stages.Watch
	deferral   holds.Deferral
	// roster is nil in a gate that accepts any member.
	roster    *electorate
	protocols protocols
	exit      exit
	kept      kept
	members   int
	hands     [wire.MaxSlots]hands
	tally     tally
	fault     fault
	logged    logged
	// name is the name, which other goroutines may read. lastUse is when a gate on demand was last used.
	name    atomic.Pointer[string]
	lastUse time.Time
}

// logged is when the lines were last logged whose cause may recur often.
type logged struct {
	// notes is the time of each note that repeats.
	notes map[policy.Note]policy.Time
	// peers is the time of the line about the number of peers, tooShort of that about a constant, sendError of that
	// about messages that could not be sent. sendErrors counts those messages.
	peers, tooShort, sendError time.Time
	sendErrors                 uint64
	// noMajority is true once people were told that a majority is missing, until this member has a token.
	noMajority bool
}

// Past is what the state directory holds of a gate.
type Past struct {
	record  statedir.Record
	found   bool
	roster  *electorate
	history *history.Log
	// damage is why the history is not complete.
	damage error
}

// Fresh is the past of a gate on demand: nothing is remembered of it.
func Fresh() (p Past) {
	p.history, _ = history.Open("") // in memory
	return p
}

// Read reads the past of a gate. It uses the disk, and nothing that belongs to a loop. self is this member.
func Read(dir *statedir.Dir, self policy.Voter, cfg *Config) (p Past, err error) {
	if p.record, p.found, err = dir.Load(cfg.Name); err != nil {
		return p, err
	}
	if p.roster, err = electorateOf(dir, self, cfg); err != nil {
		return p, err
	}
	p.history, p.damage = history.Open(dir.HistoryPath(cfg.Name))
	return p, nil
}

// New makes a gate. It does nothing before Begin.
func New(env *Env, cfg Config, p Past) *Gate {
	g := &Gate{
		env: env, cfg: cfg, id: cmp.Or(cfg.ID, wire.GateIDOf(cfg.Name)), descriptor: cfg.Protocol.Descriptor(),
		roster: p.roster, history: p.history,
		log: env.Log.With().Str("gate", cfg.Name).Logger(), tally: newTally(),
		logged: logged{notes: make(map[policy.Note]policy.Time)},
		asking: asking{answers: noAnswers()},
	}
	if e := g.roster; e != nil {
		e.env, e.gate, e.name, e.log, e.gather = env, g.id, cfg.Name, &g.log, g.gather
	}
	if g.roster == nil {
		g.protocols.own = declaration(&g.descriptor)
	}
	g.kept.gate = g
	var machine policy.Machine = &notConfigured{why: "it has just started"}
	if g.roster == nil || g.roster.known.Agreed && g.env.Moved == "" {
		machine = cfg.Protocol.Machine(g.machineEnv())
	}
	g.machine = directive.New(machine, g.env.Self, cfg.StopAfter)
	g.machine.StandStill(cfg.StandStill)
	g.machine.Once(cfg.Once)
	beginStages(g)
	if p.damage != nil {
		g.log.Warn().Err(p.damage).Msg("the history of the runs is not complete")
	}
	g.name.Store(&cfg.Name)
	if cfg.Pattern != "" {
		g.state.Seq, g.lastUse = wire.SeqOfClock(env.Clock.Now().Wall), time.Now()
	}
	if p.found {
		g.state, g.saver.record = g.fromRecord(p.record), p.record
		g.directives.fleet, g.directives.here = p.record.Directive, p.record.Here
		g.directives.told = g.directives.fleet.Directive
	}
	return g
}

// Begin lets a gate take part.
func (g *Gate) Begin() {
	g.endHistory = beside.Start(func(ctx context.Context) {
		g.history.Write(ctx, func(err error) { g.log.Warn().Err(err).Msg("the history of the runs is in memory only") })
	})
	if g.protocols.own != 0 {
		g.env.Fleet.Declare(g.id, g.protocols.own)
	}
	g.event.Kind, g.event.State = policy.Started, g.state
	kept := g.saver.record.Kept
	g.step()
	if kept.Holder != g.env.Self {
		emitInterrupted(g)
		if g.history.Interrupted() != nil {
			failsStage(g, "its agent has died")
		}
	}
	g.kept.takeUp(kept)
}

// Sight is who the members of a gate were from a time on.
type Sight struct {
	At      policy.Instant
	Members []wire.MemberID
}

// BeginOnDemand lets a gate on demand take part, with what its machine would know if it had been here before. "The
// first token is made when no member has come into the view for a while": nobody needs to wait for that again.
func BeginOnDemand(g *Gate, sights []Sight) {
	defer g.contain()
	g.endHistory = func() {}
	g.event.Kind, g.event.State = policy.Started, g.state
	for i := range sights {
		if i == 0 {
			stepAt(g, sights[i].At)
		}
		g.event.Kind, g.event.Peers, g.event.TokenKnown = policy.PeersChanged, sights[i].Members, false
		g.event.Company = i == len(sights)-1 && g.env.Fleet.HasCompany()
		g.members = len(sights[i].Members)
		stepAt(g, sights[i].At)
	}
}

// Rename names a gate on demand that others have brought here. Nothing has run under it here.
func Rename(g *Gate, name string) {
	g.cfg.Name = name
	g.name.Store(&name)
	g.log = g.env.Log.With().Str("gate", name).Logger()
}

// IsUnused reports whether nobody has used a gate on demand for a while, here or elsewhere: then its machine has
// nothing to remember.
func IsUnused(g *Gate, since time.Duration) bool {
	return g.cfg.Pattern != "" && g.run == nil && len(g.callers.queue) == 0 && !g.exit.leaving && !g.machine.Paused() &&
		!g.saver.busy() && time.Since(g.lastUse) >= since
}

// UsedAt is when a gate on demand was last used.
func UsedAt(g *Gate) time.Time { return g.lastUse }

// ID identifies the gate. ID, Name and Log may be called from any goroutine.
func (g *Gate) ID() wire.GateID { return g.id }

// Name is the name in the configuration, or that of a gate on demand.
func (g *Gate) Name() string { return *g.name.Load() }

// Log is the log with the name of the gate.
func (g *Gate) Log() *zerolog.Logger { return &g.log }

// Descriptor returns the descriptor of the gate's protocol.
func (g *Gate) Descriptor() *policy.Descriptor { return &g.descriptor }

// OnDemand reports whether the gate runs only what its callers ask for.
func (g *Gate) OnDemand() bool { return g.cfg.OnDemand() }

// Running reports whether something runs, or is about to.
func (g *Gate) Running() bool { return g.run != nil }

// Left reports whether the machine was told to leave.
func (g *Gate) Left() bool { return g.exit.left }

// Gone reports whether the machine has left.
func (g *Gate) Gone() bool { return g.exit.gone }

// Removed reports whether the configuration no longer has the gate.
func (g *Gate) Removed() bool { return g.exit.removed }

// Close ends the writing of the history, and waits for a write in progress. It may be called beside the loop.
func (g *Gate) Close() { g.endHistory() }

func (g *Gate) machineEnv() policy.Env {
	waits, rejoins := g.env.Alone()
	env := policy.Env{
		Gate: g.id, Self: g.env.Self, WaitsAlone: waits, Rejoins: rejoins,
		OnDemand: g.cfg.OnDemand(), Entropy: entropy{},
	}
	if g.roster != nil {
		env.Roster = g.roster.known.Voters
	}
	return env
}

// forgetImpossible removes impossible values from a record. They are there if an older version of this agent believed a
// forged number, or if the clock was wrong. With such a number, other members would refuse this member's messages, or
// no higher number would be left. The member learns the fleet's number with the next token.
func (g *Gate) forgetImpossible(wall int64, r *statedir.Record) {
	if r.Seq > wire.LatestSeq(wall) {
		g.log.Warn().Uint64("seq", uint64(r.Seq)).
			Msg("the fencing number in the state directory is higher than any fleet can have reached " +
				"by this host's clock; forgot it")
		r.Seq = 0
	}
}

// forgetMemo removes a memo of another protocol or of a later version of this one, and values that are impossible by
// this host's clock.
func (g *Gate) forgetMemo(wall int64, synced bool, r *statedir.Record, s *policy.State) {
	if r.Protocol != g.descriptor.Name || r.ProtocolVersion > g.descriptor.Version {
		g.log.Warn().Str("protocol", r.Protocol).Uint8("version", r.ProtocolVersion).
			Msg("the state directory has the record of another protocol for this gate; " +
				"kept the last run and the fencing number only")
		s.Memo, s.Kept, s.Claim = policy.Memo{}, policy.Kept{}, policy.Claim{}
		return
	}
	if g.descriptor.Doubt == nil {
		return
	}
	if why := g.descriptor.Doubt(wall, synced, s); why != "" {
		g.log.Warn().Msg(why)
	}
}

func (g *Gate) perform(now policy.Instant, e *policy.Effect) {
	switch e.Kind {
	case policy.Save:
		g.wantSaved(&e.State)
	case policy.Send:
		g.descriptor.Stamp(&e.Msg)
		g.send(&e.Msg)
	case policy.Run:
		g.observe(now, e)
		g.startRun(now, e)
	case policy.Extend:
		if g.run != nil {
			g.run.until = e.Until
			until := g.env.Clock.SinceBoot(e.Until)
			g.run.tell(func(run HookRun) { run.Extend(until) })
		}
	case policy.Stop:
		if g.run != nil {
			g.run.Stop()
		} else if g.kept.back != nil {
			g.kept.back.over.Store(true)
		}
	case policy.PreSign:
		g.descriptor.Stamp(&e.Msg)
		g.preSigned.add(&e.Msg)
	case policy.Took, policy.Gave:
		g.logged.noMajority = g.logged.noMajority && e.Kind == policy.Gave
		g.hands[e.Token.Slot].change(e, time.Unix(0, now.Wall))
		g.tally.hand(e)
		g.observe(now, e)
	case policy.Announce:
		if g.cfg.Pattern == "" { // Otherwise it would be true of all gates of the pattern.
			g.env.Fleet.Announce(g.id)
		}
	case policy.Proclaim:
		g.proclaim(e.Msg.Directive)
	case policy.Tell:
		g.tell(now, e)
	case policy.Gone:
		g.exit.gone = true
	}
}

// hands are the tokens of one slot that this agent holds.
type hands struct {
	// tokens is how many tokens it holds: it gives up a second one at once.
	tokens int8
	// since is when the first token came. passedAt is when a token was last passed on, to passedTo.
	since, passedAt time.Time
	passedTo        wire.MemberID
}

func (h *hands) change(e *policy.Effect, at time.Time) {
	if e.Kind == policy.Gave {
		h.tokens--
		if e.Cause == policy.CausePassed {
			h.passedAt, h.passedTo = at, e.Peer
		}
		return
	}
	if h.tokens++; h.tokens == 1 {
		h.since = at
	}
}

// granted returns the counter of the grants to the hook, or to callers.
func (g *Gate) granted(isHook bool) *uint64 {
	if isHook {
		return &g.tally.runs
	}
	return &g.tally.commands
}

// leaveAfterRun leaves a gate that was only waiting for the end of its run.
func (g *Gate) leaveAfterRun() {
	if g.isClosed() {
		g.takePartNoMore()
	}
	if g.exit.leaving {
		g.leaveGate()
	}
}

// outcomeOf returns what a run of the hook has achieved.
func outcomeOf(r *hook.Result) policy.Outcome {
	switch {
	case r.NotNow():
		return policy.NotNow
	case r.Err != nil:
		return policy.Failed
	}
	return policy.Succeeded
}

// onHookEnded records whether the hook has succeeded. Whether a command has succeeded concerns only its caller.
func (g *Gate) onHookEnded(r *hook.Result) {
	g.event.Outcome, g.event.Exit = outcomeOf(r), exitOf(r)
	switch g.event.Outcome {
	case policy.Succeeded:
		g.saver.record.LastSuccess, g.saver.wanted = time.Unix(0, g.env.Clock.Now().Wall), true
	case policy.Failed:
		g.tally.failures++
	case policy.NotNow:
	}
}

// sayHookEnded logs how the hook has ended, and when it is due again.
func (g *Gate) sayHookEnded(r *hook.Result) {
	level, text := zerolog.InfoLevel, "hook ended"
	switch outcomeOf(r) {
	case policy.Succeeded:
	case policy.Failed:
		level = zerolog.ErrorLevel
	case policy.NotNow:
		text = "hook said \"not now\""
	}
	line := g.log.WithLevel(level).Err(r.Err).Dur("took", r.Took.Round(time.Millisecond))
	if next := g.machine.Status(g.env.Clock.Now().Time).NextRun; next < policy.Never {
		g.tally.dueAt, g.tally.dueKnown = next, true
		line.Time("next_run", g.env.Clock.At(next))
	}
	line.Msg(text)
}

// warnTooShort warns at most once a minute that a constant is too short.
func (g *Gate) warnTooShort() {
	if time.Since(g.logged.tooShort) < sayAgain {
		return
	}
	if f := policy.Find(g.machine.Facts(g.env.Clock.Now().Time, nil), policy.KeyTooShort); f != nil {
		g.logged.tooShort = time.Now()
		g.log.Warn().Msg(f.Text)
	}
}
