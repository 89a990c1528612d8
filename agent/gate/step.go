package gate

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// step passes g.event to the gate's machine and carries out the effects.
func (g *Gate) step() {
	defer g.contain()
	stepAt(g, g.env.Clock.Now())
}

func stepAt(g *Gate, now policy.Instant) {
	g.tellReady(now.Time)
	followWindows(g, now.Time)
	g.effects = g.machine.Step(now, &g.event, g.effects[:0])
	for i := range g.effects {
		g.perform(now, &g.effects[i])
	}
	g.kept.lost = ""
	g.kept.confirm()
	if g.preSigned.changed {
		g.handOver()
	}
	g.beginSave()
	g.considerAsking()
	announceStanding(g)
	g.tellDemand()
	if g.down.told && mayStart(g) { // In this step the gate has got fewer tokens.
		g.event.Kind = policy.Woke
		g.step()
	}
}

// Wake does what is due now.
func (g *Gate) Wake(now policy.Time) {
	defer g.contain()
	if at, ok := g.machine.NextWake(); ok && at <= now {
		g.event.Kind = policy.Woke
		g.step()
	}
	g.considerAsking()
	lookAtStages(g, false)
	if now >= g.deferral.Until() {
		g.deferral.End()
		g.event.Kind = policy.Woke
		g.step()
	}
	if len(g.down.failed) > 0 && !time.Now().Before(g.down.lookAt) {
		g.down.lookAround(g)
	}
	if g.roster != nil && g.roster.err != nil {
		g.gather()
	}
}

// NextWake returns when a gate next has something to do.
func (g *Gate) NextWake(now policy.Time) (at policy.Time) {
	defer g.contain()
	at = g.askAt(now)
	if wake, ok := g.machine.NextWake(); ok {
		at = min(at, wake)
	}
	at = min(at, g.deferral.Until())
	if len(g.down.failed) > 0 {
		at = min(at, now.Add(time.Until(g.down.lookAt)))
	}
	return min(at, stagesWakeAt(g, now))
}

// Slept tells a gate for how long the host was suspended.
func (g *Gate) Slept(gap time.Duration) {
	g.event.Kind, g.event.Slept = policy.Suspended, gap
	g.step()
}

// Meet tells a gate's machine who its members are.
func (g *Gate) Meet() {
	lookAtStages(g, true)
	g.event.Kind = policy.PeersChanged
	g.event.Peers, g.event.TokenKnown = g.protocols.peers(g.env, g.id, &g.log)
	g.event.Company = g.protocols.foreign == "" && g.env.Fleet.HasCompany()
	if n := len(g.event.Peers); n != g.members {
		g.members = n
		level := zerolog.DebugLevel // the membership summarises members that flap
		if now := time.Now(); now.Sub(g.logged.peers) >= peersEvery {
			g.logged.peers, level = now, zerolog.InfoLevel
		}
		g.log.WithLevel(level).Int("members", n).Msg("peers changed")
	}
	g.preSigned.changed = true // a guardian may have another address
	g.step()
	g.down.lookAround(g)
	g.gather()
	g.Reads(g.kept.look)
}

// IsAlone reports whether a gate has no other member here.
func IsAlone(g *Gate) bool { return g.members <= 1 }

// HasLeft reports whether nothing is left of a gate: nothing in its machine, no save, no process of a ready check.
func (g *Gate) HasLeft() bool { return g.exit.gone && !g.saver.busy() && g.asking.run == nil }

// IsGranted reports whether something runs under a grant with an end.
func (g *Gate) IsGranted() bool { return g.run != nil && g.roster != nil }

// EndGrant ends the grant now, if it has an end.
func (g *Gate) EndGrant() {
	if g.IsGranted() {
		now := g.env.Clock.SinceBoot(g.env.Clock.Now().Time)
		g.run.tell(func(run HookRun) { run.Extend(now) })
	}
}

// SayAbandoned logs what is left of a gate when a stop has taken too long.
func (g *Gate) SayAbandoned() {
	switch {
	case g.exit.gone && g.saver.busy():
		g.log.Warn().Msg("the state of the gate could not be saved in time: the disk hangs")
	case g.exit.gone:
	case g.run != nil:
		g.log.Error().Msg("the hook did not end in time")
	default:
		g.SayNobodyTook()
	}
}

// SayNobodyTook logs that a token is left behind.
func (g *Gate) SayNobodyTook() {
	g.log.Warn().Msg("no member took the token in time; the fleet will revive it or make a new one")
}

// send signs, seals and sends one message. A failure is like a lost datagram: the handoff repeats the message.
func (g *Gate) send(m *wire.Message) {
	to, ok := g.env.Fleet.Lookup(g.id, m.To)
	if !ok {
		g.log.Debug().Str("peer", m.To.Short()).Msg("not sent: the member is gone")
		return
	}
	if err := g.env.Fleet.Send(m, to.Addr); err != nil {
		g.logged.sendErrors++
		if now := time.Now(); now.Sub(g.logged.sendError) >= sayAgain {
			g.logged.sendError = now
			g.log.Warn().Err(err).Str("peer", to.Name).Stringer("address", to.Addr).
				Uint64("count", g.logged.sendErrors).
				Msg("cannot send; the handoff will try again or choose another member")
		}
		return
	}
	g.tally.sent[m.Kind]++
}

// peersEvery is the least time between two lines about a gate's peers.
const peersEvery = 5 * time.Second

// Receive passes a message to the gate's machine.
func (g *Gate) Receive(m *wire.Message) {
	g.event.Kind, g.event.Msg, g.lastUse = policy.Received, *m, time.Now()
	g.tally.received[m.Kind]++
	g.step()
}

// Expects reports whether a gate's machine expects a message.
func (g *Gate) Expects(m *wire.Message) (yes bool) {
	defer g.contain()
	return g.machine.Expects(m)
}

// sayAgain is the least time between two warnings of one kind.
const sayAgain = time.Minute
