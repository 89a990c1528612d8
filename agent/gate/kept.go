package gate

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
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
	// down is true if the host has gone down under it; over is true if its operation has succeeded before that.
	down, over bool
	// asked is true once it was asked whether a stop of the agent is one of the host.
	asked bool
	// lost is why the grant of another host is over, if it has just run out, in words.
	lost string
	// lock is the grant of a client, if the grant is one; back is the grant that this agent has found at its start.
	lock lock
	back *back
	// sights are the other hosts that have such a grant.
	sights map[wire.MemberID]sight
}

// sight is since when another host with a kept grant is away, and since when it is back. Both are zero if it was never
// away. name is its name, if it was here.
type sight struct {
	away, back time.Time
	name       string
}

// look looks which of the hosts with kept grants are here.
func (k *kept) look() {
	g := k.gate
	if g.cfg.Keep == 0 {
		return
	}
	before := k.sights
	k.sights = nil
	for _, f := range g.machine.Facts(g.env.Clock.Now().Time, nil) {
		if f.Key != policy.KeyKept || f.Member == g.env.Self {
			continue
		}
		s := before[f.Member]
		peer, here := g.env.Fleet.Lookup(g.id, f.Member)
		if here {
			s.name = peer.Name
		}
		switch {
		case !here && (s.away.IsZero() || !s.back.IsZero()):
			s.away, s.back = time.Now(), time.Time{}
		case here && !s.away.IsZero() && s.back.IsZero():
			s.back = time.Now()
		}
		if k.sights == nil {
			k.sights = make(map[wire.MemberID]sight)
		}
		k.sights[f.Member] = s
	}
}

// grant describes a kept grant for operators.
func (k *kept) grant(f *policy.Fact) control.Kept {
	g := k.gate
	c := control.Kept{
		Slot: int(f.Slot), Member: f.Member.String(), Name: g.nameOf(f.Member), Until: g.env.Clock.At(f.At),
		Self: f.Member == g.env.Self,
	}
	if !c.Self {
		if g.roster != nil {
			for _, v := range g.roster.known.Voters {
				if v.ID == f.Member {
					c.Name = v.Name
				}
			}
		}
		k.look()
		s := k.sights[f.Member]
		c.AwaySince, c.BackSince = s.away, s.back
		if s.name != "" {
			c.Name = s.name
		}
		return c
	}
	switch b := k.back; {
	case b == nil && g.run != nil && g.run.isLock:
		c.State = "its client may reboot the host"
	case b == nil:
	case !b.steady.Load():
		c.State = "the client of its grant has not said that the host is steady"
	case b.rebooted:
		c.State = "the host is back, and is still starting"
	}
	return c
}

// goesDownWithin is how long after a hook's end the host may take to begin to go down: "systemctl reboot" returns at
// once.
const goesDownWithin = 30 * time.Second

// lookEvery is how often the service manager is asked whether the host goes down, or is up.
const lookEvery = time.Second

// holds reports whether this member has a grant that outlives this host.
func (k *kept) holds() bool { return k.gate.cfg.Keep > 0 && k.gate.run != nil || k.back != nil }

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
		if r.Err != nil || l.isStopped() || l.isLock || time.Now().After(until) {
			return false
		}
	}
}

// goDown leaves the grant to those who keep it: the run has not ended before this host is back.
func (k *kept) goDown(r *hook.Result) {
	if k.gate.exit.gone {
		return
	}
	k.gate.log.Info().Dur("took", r.Took.Round(time.Millisecond)).Msg("the run has ended")
	k.goesWith()
}

// goesWith records that the host goes down with its grant.
func (k *kept) goesWith() {
	g := k.gate
	g.log.Info().Dur("kept_for", g.cfg.Keep).Msg("the host goes down, and its grant is kept until it is back")
	k.down = true
	emit(g, events.Event{Kind: events.HostAway, Seq: uint64(k.seq)}, uint64(k.seq), g.env.Self.Short())
	g.wantSaved(&g.state)
	g.beginSave()
}

// GoesWithGrant reports whether the host goes down with a grant of this gate, which is kept until it is back.
func GoesWithGrant(g *Gate) bool { return g.exit.withGrant }

// askWhatStops finds out, when the agent is stopped under such a grant, whether the host goes down: then the machine
// does not leave. Otherwise it does, unless the grant outlives the agent in any case.
func (k *kept) askWhatStops() {
	k.asked = true
	g := k.gate
	go func() {
		down := g.env.GoesDown()
		g.env.Ended <- func() {
			stays := k.back != nil || g.run != nil && (g.run.isLock || g.run.resumed)
			if !down && !stays {
				g.leaveGate()
				return
			}
			g.exit.left, g.exit.gone, g.exit.leftAt, g.exit.withGrant = true, true, time.Now(), down
			switch {
			case down && !k.down:
				k.goesWith()
			case stays:
				g.log.Info().Msg("the agent stops, and the grant of this host is kept until it has started again")
			}
			k.leaveBehind()
		}
	}()
}

// record is the record of the kept grant in a state. A grant of this host has the boot in which it began.
func (k *kept) record(s *policy.State, boot string) statedir.Kept {
	if s.Kept.Holder != k.gate.env.Self {
		if _, seen := k.sights[s.Kept.Holder]; s.Kept.Is() && !seen {
			k.look()
		}
		return statedir.KeptOf(&s.Kept, "")
	}
	if k.seq != s.Kept.Token.Seq {
		k.seq, k.boot, k.down, k.over, k.lock = s.Kept.Token.Seq, boot, false, false, lock{}
	}
	r := statedir.KeptOf(&s.Kept, k.boot)
	r.Down, r.Over, r.Client, r.Asked, r.Steady = k.down, k.over, k.lock.client, k.lock.asked, k.lock.steady
	return r
}

// back is a grant that was kept while this host was away, or while its agent was.
type back struct {
	record statedir.Kept
	// rebooted is true if the host has another boot since.
	rebooted bool
	// steady is true if the grant is no client's, or its client needs it no longer; over, if the grant was lost, or the
	// agent stops. Both are read beside the loop.
	steady, over atomic.Bool
	// until is how long this host, which is late, waits to hear whether it has lost the grant; zero before it does.
	until time.Time
}

// takeUp begins to hand back the grant that this host has kept while it was away, or while its agent was.
func (k *kept) takeUp(r statedir.Kept) {
	g := k.gate
	if r.Holder != g.env.Self {
		return
	}
	k.boot, k.seq, k.down, k.over = r.Boot, r.Seq, r.Down, r.Over
	k.lock = lock{client: r.Client, asked: r.Asked, steady: r.Steady}
	boot := g.env.Clock.Boot()
	rebooted := r.Down || r.Boot == "" || boot.ID == "" || r.Boot != boot.ID
	g.log.Info().Bool("rebooted", rebooted).Uint64("seq", uint64(r.Seq)).
		Msg("this host is back, and takes up the grant that was kept for it")
	k.await(r, rebooted, boot.Up)
}

// await hands the grant back when this host is up, and its client, if it has one, needs it no longer. It waits for as
// long as the grant is kept at most.
func (k *kept) await(r statedir.Kept, rebooted bool, up time.Duration) {
	g, b := k.gate, &back{record: r, rebooted: rebooted}
	b.steady.Store(r.Client == "" || r.Steady)
	most := r.For
	if r.Client != "" && !rebooted {
		most -= max(up-r.Asked, 0)
	}
	k.back = b
	go func() {
		for until := time.Now().Add(most); !b.over.Load() && time.Now().Before(until) && b.waits(g.env); {
			time.Sleep(lookEvery)
		}
		g.env.Ended <- func() {
			if k.back == b {
				k.handBack(b)
			}
		}
	}()
}

// waits reports whether it is too early to hand the grant back. A host that goes down takes the grant with it.
func (b *back) waits(env *Env) bool {
	switch {
	case !b.steady.Load():
		return true
	case b.rebooted:
		return env.ComesUp()
	}
	return b.record.Client != "" && env.GoesDown()
}

// hearsWithin is how long a host that is late waits for the others.
const hearsWithin = 15 * time.Second

// hears reports whether it is too early to hand the grant back because this host was away for longer than it was kept:
// the others have probably gone on, and will say so.
func (k *kept) hears(b *back) bool {
	g, runs := k.gate, k.gate.history.Runs()
	n := len(runs)
	late := n > 0 && runs[n-1].Seq-uint64(b.record.Seq) <= 1 && time.Since(runs[n-1].Start) > b.record.For
	if b.until.IsZero() {
		b.until = time.Now().Add(hearsWithin)
	}
	if !late || time.Now().After(b.until) || !g.machine.Status(g.env.Clock.Now().Time).Holding {
		return false
	}
	go func() {
		time.Sleep(lookEvery)
		g.env.Ended <- func() {
			if k.back == b {
				k.handBack(b)
			}
		}
	}()
	return true
}

// recordsOver records that what is left of the run is to look after this host.
func (k *kept) recordsOver() {
	if k.holds() && !k.over {
		k.over = true
		k.gate.wantSaved(&k.gate.state)
		k.gate.beginSave()
	}
}

// handBack ends the run of before. A run during which the host has rebooted, or whose operation was over, has
// succeeded; of another one nobody has seen the end. The grant is handed back when this host was looked after.
func (k *kept) handBack(b *back) {
	g := k.gate
	defer g.contain()
	if g.exit.gone || k.hears(b) {
		return
	}
	k.back = nil
	r := &b.record
	l := &launch{
		token: r.Grant().Token, demanded: r.Demanded, isHook: !r.Demanded && !g.cfg.OnDemand() && r.Client == "",
		resumed: true, halt: make(chan struct{}), entry: completeKept(g, b, g.env.Clock.Boot().ID),
	}
	l.isOver()
	g.run = l
	f := finished{result: hook.Result{Took: l.entry.Took()}}
	switch {
	case !b.steady.Load():
		f.result.Exit, f.result.TimedOut, f.result.Err = -1, true, errNotRebooted(r.For)
	case !b.rebooted && !r.Over && r.Client == "":
		emitInterrupted(g)
		f.result.Exit, f.result.Stopped = -1, true
		f.result.Err = errors.New("its agent has died, and nobody has seen its end")
	}
	switch {
	case !g.machine.Status(g.env.Clock.Now().Time).Holding:
		g.log.Warn().Msg("this host was away for longer than its grant was kept; others have gone on")
	case !b.steady.Load():
		g.log.Warn().Dur("kept_for", r.For).Msg(
			"its client has not said in time that this host is in its steady state: handing its grant back")
	case f.isFollowed(g, l):
		g.log.Info().Msg("this host is up again: looking after it before its grant is handed back")
		l.lookAfter(g, f)
		return
	default:
		g.log.Info().Msg("this host is up again: handing its grant back")
	}
	f.isOver(g)
}

// leaveBehind ends what goes on here for a grant that outlives this agent.
func (k *kept) leaveBehind() {
	if k.back != nil {
		k.back.over.Store(true)
	}
	if l := k.gate.run; l != nil && l.isLock {
		l.tell(ends(hook.Result{Err: errLeftBehind}))
	}
}
