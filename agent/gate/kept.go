package gate

import (
	"errors"
	"fmt"
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
	// beyond is the time since the boot up to which the grant is kept beyond the end of its operation, which has asked
	// for that, with a reason; zero if it has not. asked are the requests that have no answer yet.
	beyond time.Duration
	reason string
	asking []*keepRequest
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
	if k.isBeyond() {
		c.Beyond, c.Reason = time.Now().Add(k.beyond-g.env.Clock.Boot().Up), k.reason
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
	if r.Err == nil && !l.isLock {
		g.env.Ended <- func() { k.endsBefore(l) }
	}
	for until := time.Now().Add(goesDownWithin); ; time.Sleep(lookEvery) {
		beyond, left := l.isKept()
		if left || g.env.GoesDown() {
			return true
		}
		waits := r.Err == nil && time.Now().Before(until) || time.Now().Before(beyond)
		if waits && !l.isStopped() && !l.isLock {
			continue
		}
		if !beyond.IsZero() {
			g.log.Warn().Msg("the run has asked to keep its grant, and the host has not gone down: the grant goes on")
		}
		return false
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
			stays := k.back != nil || g.run != nil && (g.run.isLock || g.run.resumed || k.isBeyond())
			if !down && !stays {
				g.leaveGate()
				return
			}
			g.exit.left, g.exit.gone, g.exit.leftAt, g.exit.withGrant = true, true, time.Now(), down
			if g.run != nil {
				g.run.leave()
			}
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
		k.beyond, k.reason = 0, ""
	}
	r := statedir.KeptOf(&s.Kept, k.boot)
	r.Down, r.Over, r.Client, r.Asked, r.Steady = k.down, k.over, k.lock.client, k.lock.asked, k.lock.steady
	r.Beyond, r.Reason = k.beyond, k.reason
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
	k.boot, k.seq, k.down, k.over, k.beyond, k.reason = r.Boot, r.Seq, r.Down, r.Over, r.Beyond, r.Reason
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
	switch {
	case rebooted:
	case r.Client != "":
		most -= max(up-r.Asked, 0)
	case r.Beyond > 0:
		most = min(r.Beyond-up, most)
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
	return b.record.Beyond > 0 || b.record.Client != "" && env.GoesDown()
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
	k.answer(errLeaving())
}

// A run may ask that its grant is kept beyond its end ("wanderd keep"): its host goes down, but not at once. It relies
// on the answer, so that comes only when this is on the disk here, and those who keep the grant have said so once more.
// The others need not know how long the host takes: as long as they hear it, they wait.

// keepRequest is such a request.
type keepRequest struct {
	token   wire.Ref
	answers chan<- error
	// saved is true once it is on the disk.
	saved bool
}

// AskToKeep asks to keep the grant of a running operation beyond its end. The answer follows, once.
func AskToKeep(g *Gate, asks *control.Keep, answers chan<- error) error {
	k, l, lasts := &g.kept, g.run, time.Duration(asks.For)
	switch {
	case g.cfg.Keep == 0:
		return fmt.Errorf("gate %q has no keep, and its grants end with their runs: set keep, to the same on all hosts",
			g.cfg.Name)
	case lasts <= 0 || lasts > g.cfg.Keep:
		return fmt.Errorf("--for %v is not from 1s to %v, for which gate %q keeps its grants: ask again in time", lasts,
			g.cfg.Keep, g.cfg.Name)
	case len(asks.Reason) > statedir.MaxReason:
		return fmt.Errorf("the reason has %d bytes, and %d are allowed: shorten it", len(asks.Reason),
			statedir.MaxReason)
	case g.exit.left || g.isClosed():
		return g.refusal()
	case l == nil || l.isLock || l.isHeld || l.token.ID.String() != asks.Token || uint64(l.token.Seq) != asks.Seq ||
		!l.keepBeyond(time.Now().Add(lasts)):
		return fmt.Errorf("run %d of gate %q is over, and so is its grant: ask while the run goes on", asks.Seq,
			g.cfg.Name)
	}
	keeper, is := g.machine.Machine.(policy.Keeper)
	if !is || g.saver.record.Kept.Holder != g.env.Self || !keeper.AskKeepers() {
		l.keepBeyond(time.Time{})
		return fmt.Errorf("this host has lost gate %q under run %d: others may run", g.cfg.Name, asks.Seq)
	}
	g.log.Info().Dur("for", lasts).Str("reason", asks.Reason).
		Msg("the run asks to keep its grant beyond its end: its host is to go down")
	k.beyond, k.reason = g.env.Clock.Boot().Up+lasts, asks.Reason
	k.asking = append(k.asking, &keepRequest{token: l.token, answers: answers})
	g.wantSaved(&g.state)
	g.event.Kind = policy.Woke
	g.step()
	return nil
}

// NotKept ends the requests to keep a grant beyond its end that have no answer yet.
func NotKept(g *Gate) {
	g.kept.answer(fmt.Errorf("the others have not confirmed in time that they keep the grant of gate %q: "+
		"it ends with the run", g.cfg.Name))
}

// answer answers the requests that have no answer yet. The grant is kept beyond its end only if that is no error.
func (k *kept) answer(err error) {
	if len(k.asking) == 0 {
		return
	}
	for _, r := range k.asking {
		r.answers <- err
	}
	if k.asking = nil; err != nil && !k.gate.exit.left {
		if k.beyond = 0; k.gate.run != nil {
			k.gate.run.keepBeyond(time.Time{})
		}
		k.gate.wantSaved(&k.gate.state)
		k.gate.beginSave()
	}
}

// onSaved records that the requests are on the disk, unless that has failed.
func (k *kept) onSaved(err error) {
	if err != nil {
		k.answer(fmt.Errorf("it cannot be recorded on this host: %w", err))
	}
	for _, r := range k.asking {
		r.saved = true
	}
}

// confirm answers the requests when all is done.
func (k *kept) confirm() {
	if len(k.asking) == 0 {
		return
	}
	g, last := k.gate, k.asking[len(k.asking)-1]
	keeper := g.machine.Machine.(policy.Keeper)
	switch {
	case g.run == nil || g.run.token != last.token || !g.machine.Status(g.env.Clock.Now().Time).Holding:
		k.answer(fmt.Errorf("this host has lost gate %q under run %d: others may run", g.cfg.Name, last.token.Seq))
	case last.saved && keeper.KeepersAnswered():
		k.answer(nil)
	}
}

// isBeyond reports whether the grant is kept beyond the end of its run now, if its run has ended.
func (k *kept) isBeyond() bool { return len(k.asking) == 0 && k.gate.env.Clock.Boot().Up < k.beyond }

// endsBefore records that an operation has succeeded whose grant is kept beyond its end.
func (k *kept) endsBefore(l *launch) {
	if k.gate.run == l && k.isBeyond() {
		k.recordsOver()
	}
}

// keepBeyond records until when the grant of a run is kept beyond its end. It reports false if that has ended.
func (l *launch) keepBeyond(until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended || until.IsZero() {
		l.beyond = until
	}
	return !l.ended
}

// leave leaves the grant of a run to the next life of this agent.
func (l *launch) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

func (l *launch) isKept() (beyond time.Time, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beyond, l.left
}
