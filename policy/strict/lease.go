package strict

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// state is the stage of this member's turn.
//
//	state    token  ends with
//	absent   -      the token here, and a demand
//	entered  yes    a lease: the command starts; or no demand any more; or the token is over
//	running  yes    Finished, also when the token was over before
//	handing  yes    all know that the grant is no longer kept: see keep.go
type state uint8

const (
	absent state = iota
	entered
	running
	handing
)

func (s state) String() string {
	return policy.Name([]string{
		absent: "waiting", entered: "entered", running: "running", handing: "handing back",
	}, s)
}

// turn is this member's turn to run.
type turn struct {
	state state
	// tried is true if nothing has changed since the lease was last found too short.
	tried bool
	// saving is true while the start, at savedAs, is being recorded; saved is true once it was.
	saving, saved bool
	savedAs       policy.Time
	// token is the token of the run; demanded is true if the run is for callers only.
	token    wire.Ref
	demanded bool
	// resumed is true if the run began in an earlier life: the ring or tree does not have the token. denied is true if
	// the grant that is handed back has led to no run.
	resumed, denied bool
	// hadRun, before and waited keep the record of the previous run, which is restored if this run is denied.
	hadRun bool
	before policy.Time
	waited time.Duration
}

// enter begins this member's turn: the token is here.
func (g *Machine) enter() {
	g.turn = turn{state: entered}
	g.due.told = false // The coming run ends the demand.
}

// try starts the command if the lease suffices. If not, the token waits here for a majority: "A holder past D keeps the
// token but runs nothing ("no majority" in status), and goes on if M renew again" (rule 6). A start that counts for
// min_interval is recorded first. Whose run it is does not change once that is recorded with a grant that is kept: a
// host that is back goes on with what its disk says.
func (g *Machine) try(now policy.Instant, out []policy.Effect) []policy.Effect {
	t := &g.turn
	t.tried = true
	counts, demanded := g.counts(now.Time)
	switch {
	case !g.b.Keeping():
		t.demanded = demanded
	case t.demanded != demanded:
		g.marks.Hit(markWhoseRunChanged)
		return g.skip(now, out)
	}
	var taken bool
	if out, taken = g.isTaken(now, out); taken {
		g.marks.Hit(markTaken)
		return g.skip(now, out)
	}
	g.b.Keeps()
	if t.saved && now.Time.Sub(t.savedAs) > g.set.SaveWithin() {
		g.marks.Hit(markRecordOld)
		t.saved = false // A start that was recorded long ago is no good record of this one.
	}
	switch {
	case !counts || t.saved:
		g.b.Claims(g.claims(demanded))
		var ok bool
		if out, ok = g.b.Run(now.Time, out); ok {
			return g.started(now, demanded, out)
		}
	case !t.saving:
		g.marks.Hit(markRecords)
		t.saving, t.savedAs = true, now.Time
		out = policy.AppendSave(out, g.state())
	}
	return g.b.Need(now.Time, &g.end, out)
}

// started handles the grant: in out, the grant is followed only by the messages for its guard.
func (g *Machine) started(now policy.Instant, demanded bool, out []policy.Effect) []policy.Effect {
	for i := len(out) - 1; ; i-- {
		if out[i].Kind == policy.Run {
			out[i].Demanded = demanded
			break
		}
	}
	d := &g.due
	g.turn = turn{
		state: running, token: *g.b.Token(), demanded: demanded, hadRun: d.hasRun, before: d.lastRun,
		waited: d.repeat.Wait,
	}
	if !demanded {
		d.hasRun, d.lastRun, d.repeat.Wait = true, now.Time, 0
	}
	d.wanted = false // "The next Run ends the demand."
	g.hadTurn = true
	g.in.Renumber(g.b.Token().Seq)
	return g.b.Need(now.Time, &g.end, out)
}

// onSaved continues a start that was to be recorded.
func (g *Machine) onSaved(now policy.Instant, failed bool, out []policy.Effect) []policy.Effect {
	t := &g.turn
	if !t.saving {
		return out
	}
	t.saving, t.saved, t.tried = false, !failed, false
	if failed {
		g.marks.Hit(markRecordFails)
		g.due.notBefore = now.Time.Add(g.set.Patience)
		out = policy.AppendTell(out, NoteNotRecorded, wire.MemberID{}, g.b.Token())
	}
	return out
}

// recordsUntil is when a start that is being recorded counts as not recorded: a disk may hang, and the token must not
// stay for as long. It is Never if none is being recorded.
func (g *Machine) recordsUntil() policy.Time {
	if g.turn.state != entered || !g.turn.saving {
		return policy.Never
	}
	return g.turn.savedAs.Add(g.set.SaveWithin())
}

// giveUpRecord ends a turn whose start the disk has not recorded in time. If that save ends after all, the one that
// follows it has no such start.
func (g *Machine) giveUpRecord(now policy.Instant, out []policy.Effect) []policy.Effect {
	g.marks.Hit(markRecordLate)
	out = g.onSaved(now, true, out)
	return policy.AppendSave(out, g.state())
}

// skip ends a turn without a run: the token goes on.
func (g *Machine) skip(now policy.Instant, out []policy.Effect) []policy.Effect {
	g.marks.Hit(markSkips)
	g.hadTurn = true
	saved := g.turn.saved
	g.turn = turn{}
	if saved { // It has recorded a start that was none.
		g.marks.Hit(markUnrecords)
		out = policy.AppendSave(out, g.state())
	}
	if g.b.Keeping() || g.b.Claiming() {
		g.marks.Hit(markSkipsKept)
		return g.handBack(now, turn{denied: true}, out)
	}
	if g.b.Contested() {
		g.marks.Hit(markSkipsContested)
		return g.discard(now, out)
	}
	return g.handOn(now, true, out)
}

// handOn lets the ring or tree pass the token on.
func (g *Machine) handOn(now policy.Instant, denied bool, out []policy.Effect) []policy.Effect {
	g.b.Rest()
	g.event.Kind, g.event.Denied = policy.Finished, denied
	return g.inside(now, &g.event, out)
}

// onFinished handles the end of the command: nothing is left of it, so the token may go on. "Handoff within one epoch:
// the command and its group gone first, then give up, then Commit; never back." (rule 7)
func (g *Machine) onFinished(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if g.turn.state != running {
		return out
	}
	ended := g.turn
	g.turn = turn{}
	goesOn := ev.SoakGoesOn && g.b.Soaking(now.Time)
	if !goesOn {
		out = g.b.EndSoak(now.Time, &g.end, out)
	}
	g.due.turns.Ended(ended.demanded, ev.Denied)
	if ev.Denied {
		g.due.hasRun, g.due.lastRun, g.due.repeat.Wait = ended.hadRun, ended.before, ended.waited
	} else {
		out = g.conclude(now.Time, &ended, ev.Outcome, out)
	}
	if !ev.Denied && !ended.demanded && ev.Outcome == policy.Succeeded {
		g.b.Succeeded()
	}
	switch {
	case goesOn: // Its epoch is not released: no newer one is promised before the soak is over.
		g.marks.Hit(markSoakGoesOn)
		return g.give(now, policy.CauseDropped, wire.MemberID{}, out)
	case g.b.Token() == nil:
		g.holdOff(now.Time)
		out = g.b.ReleaseOver(now.Time, &ended.token, out)
		return g.lose(now, ended.resumed, out)
	case g.b.Keeping() || g.b.Claiming():
		ended.denied = ev.Denied
		return g.handBack(now, ended, out)
	case g.b.Contested() || g.b.Starves():
		return g.yield(now, out)
	}
	return g.handOn(now, ev.Denied, out)
}

// lose tells the ring or tree that the token, which was here, is over. If the run began in an earlier life, the ring or
// tree never had that token.
func (g *Machine) lose(now policy.Instant, resumed bool, out []policy.Effect) []policy.Effect {
	if g.turn.state == entered || g.turn.state == handing {
		g.turn = turn{}
	}
	if resumed {
		return out
	}
	from := len(out)
	return g.follow(now, from, g.in.Lose(now, out))
}
