package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A grant may outlive its host: the hook reboots it, and no other host runs before this one is here again. The machine
// sees to the grant (see policy.Kept); the shell finds out whether the host goes down, and whether it is back.

// kept is what the shell knows of a kept grant of this host.
type kept struct {
	gate *Gate
	// boot is the boot in which the grant of the record began, seq its number.
	boot string
	seq  wire.Seq
	// down is true if the host has gone down under it.
	down bool
	// asked is true once it was asked whether a stop of the agent is one of the host.
	asked bool
}

// goesDownWithin is how long after a hook's end the host may take to begin to go down: "systemctl reboot" returns at
// once.
const goesDownWithin = 30 * time.Second

// lookEvery is how often the service manager is asked whether the host goes down, or is up.
const lookEvery = time.Second

// holds reports whether something runs under a grant that outlives this host.
func (k *kept) holds() bool { return k.gate.cfg.Keep > 0 && k.gate.run != nil }

// goesDown reports, beside the loop, whether the host goes down after a run, so that its grant is kept. After a run
// that succeeded it waits until that is certain, or the run is to stop: then the agent stops, or its grant is lost.
func (k *kept) goesDown(l *launch, f *finished) bool {
	r, g := &f.result, k.gate
	if g.cfg.Keep == 0 || f.denied || r.NotExecuted {
		return false
	}
	for until := time.Now().Add(goesDownWithin); ; time.Sleep(lookEvery) {
		if g.env.GoesDown() {
			return true
		}
		if r.Err != nil || l.isStopped() || time.Now().After(until) {
			return false
		}
	}
}

// goDown leaves the grant to those who keep it: the run has not ended before this host is back.
func (k *kept) goDown(r *hook.Result) {
	k.gate.log.Info().Dur("took", r.Took.Round(time.Millisecond)).Msg("the hook has ended")
	k.goesWith()
}

// goesWith records that the host goes down with its grant.
func (k *kept) goesWith() {
	g := k.gate
	g.log.Info().Dur("kept_for", g.cfg.Keep).Msg("the host goes down, and its grant is kept until it is back")
	k.down = true
	g.wantSaved(&g.state)
	g.beginSave()
}

// askWhatStops finds out, when the agent is stopped under such a grant, whether the host goes down: then the machine
// does not leave. Otherwise it does.
func (k *kept) askWhatStops() {
	k.asked = true
	g := k.gate
	go func() {
		stops := g.env.GoesDown()
		g.env.Ended <- func() {
			if !stops {
				g.leaveGate()
				return
			}
			g.exit.left, g.exit.gone, g.exit.leftAt = true, true, time.Now()
			if !k.down {
				k.goesWith()
			}
		}
	}()
}

// record is the record of the kept grant in a state. A grant of this host has the boot in which it began.
func (k *kept) record(s *policy.State, boot string) statedir.Kept {
	if s.Kept.Holder != k.gate.env.Self {
		return statedir.KeptOf(&s.Kept, "")
	}
	if k.seq != s.Kept.Token.Seq {
		k.seq, k.boot, k.down = s.Kept.Token.Seq, boot, false
	}
	r := statedir.KeptOf(&s.Kept, k.boot)
	r.Down = k.down
	return r
}

// takeUp begins to hand back the grant that this host has kept while it was away, or while its agent was.
func (k *kept) takeUp(r statedir.Kept) {
	g := k.gate
	if r.Holder != g.env.Self {
		return
	}
	k.boot, k.seq, k.down = r.Boot, r.Seq, r.Down
	boot := g.env.Clock.Boot().ID
	rebooted := r.Down || r.Boot == "" || boot == "" || r.Boot != boot
	g.log.Info().Bool("rebooted", rebooted).Uint64("seq", uint64(r.Seq)).
		Msg("this host is back, and takes up the grant that was kept for it")
	go func() {
		for until := time.Now().Add(r.For); rebooted && g.env.ComesUp() && time.Now().Before(until); {
			time.Sleep(lookEvery)
		}
		g.env.Ended <- func() { k.handBack(r, rebooted) }
	}()
}

// handBack tells the machine that the run of before is over. A run during which the host has rebooted has succeeded; of
// another one nobody has seen the end.
func (k *kept) handBack(r statedir.Kept, rebooted bool) {
	g := k.gate
	defer g.contain()
	if g.machine.Status(g.env.Clock.Now().Time).Holding {
		g.log.Info().Msg("this host is up again: handing its grant back")
	} else {
		g.log.Warn().Msg("this host was away for longer than its grant was kept; others have gone on")
	}
	g.event.Kind, g.event.Void, g.event.Denied, g.event.ByHand = policy.Finished, true, false, false
	if g.event.Outcome, g.event.Exit = policy.Failed, 0; rebooted {
		g.event.Outcome = policy.Succeeded
		completeReboot(g.history, r, g.env.Clock.Boot().ID)
	}
	g.step()
}
