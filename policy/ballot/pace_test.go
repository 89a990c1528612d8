package ballot_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/window"
)

// Gates whose members have an operation of their own: when it is due, what follows a failure, and windows.

// pacePlan is what else a seed draws.
type pacePlan struct {
	moves                   gateKind
	minInterval, retryAfter time.Duration
	windows                 window.Set
	// wallAhead is what the wall clock reads when the world begins, after wallEpoch. openFrom is the true time from
	// which a window is open.
	wallAhead, openFrom int64
	fails, notNow       float64
}

// drawPace lets a seed draw it.
func (p *plan) drawPace() {
	dice := rand.New(rand.NewPCG(p.seed, 4))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(dice.Int64N(int64(to-from)+1)) }
	p.moves = []gateKind{tree, always, martin, q, d}[dice.IntN(5)]
	lap := time.Duration(p.members) * 4 * p.runFor
	p.minInterval, p.wallAhead = between(lap, lap+10*p.lease), dice.Int64N(int64(time.Minute))
	if dice.IntN(8) > 0 {
		p.retryAfter = between(p.patience, p.minInterval)
	}
	p.fails, p.notNow = dice.Float64(), dice.Float64()
	if dice.IntN(2) > 0 {
		p.wantEvery = time.Hour // No caller comes before the end.
	}
	if dice.IntN(2) > 0 {
		p.drawWindows(dice)
	} else if dice.IntN(2) > 0 { // always due
		p.minInterval = between(1, p.runFor)
		p.retryAfter = min(p.retryAfter, p.minInterval)
	}
}

// utc is the zone of all windows.
func utc(string) (*time.Location, error) { return time.UTC, nil }

// drawWindows lets a seed draw windows; from some time on one is open.
func (p *plan) drawWindows(dice *rand.Rand) {
	begun := (wallEpoch + p.wallAhead) / int64(time.Minute) * int64(time.Minute)
	for at := begun; ; at += int64(time.Minute) {
		healed := at >= wallEpoch+p.wallAhead+int64(p.faultsFor)
		if healed || dice.IntN(2) > 0 {
			last := at + int64(time.Minute)
			if healed {
				last += int64(time.Hour)
			}
			clock := func(t int64) string { return time.Unix(0, t).UTC().Format("15:04") }
			open, err := window.Parse(clock(at)+"-"+clock(last), utc)
			if err != nil {
				panic(err)
			}
			p.windows = append(p.windows, open)
		}
		if healed {
			p.openFrom = at - wallEpoch - p.wallAhead
			return
		}
	}
}

// attempts are a member's runs of its own operation, by its clock.
type attempts struct {
	failures     int
	started, due policy.Time
	// notBefore is until when the member does not try again after a start that was not recorded, or while another
	// member has claimed the interval.
	notBefore policy.Time
	// startedAt is when the last run started, in true time.
	startedAt int64
	// known is true if there was a run; demanded, if the present run is for callers; sure, if failures and due are the
	// member's own, and not merely a bound: what it had concluded when it crashed may be on its disk or not.
	known, demanded, sure bool
	// wanted is true if the last turn was for callers: it ran for them, and no operation was put off since.
	wanted bool
	// saves is true if what followed the last run was to be saved; saved, if it is on the disk.
	saves, saved bool
}

// pacing checks when members run their own operations: not before min_interval is over, or after a failed run not
// before what follows from retry_after; nothing runs outside of the windows; a restart forgets nothing that was saved;
// and of two runs in a row, not both are for callers while the operation is due.
type pacing struct {
	w       *world
	now, at []attempts // at is as it was before the present run
}

func (k *pacing) init(w *world) {
	k.w, k.now, k.at = w, make([]attempts, len(w.hosts)), make([]attempts, len(w.hosts))
	for i := range k.now {
		k.now[i].sure = true
	}
}

func (k *pacing) stepped(i int) {
	w, a := k.w, &k.now[i]
	local, ends := w.local(i), false
	if !w.isReady(i) {
		a.notBefore = max(a.notBefore, local.Add(w.p.readyFor+w.p.readyFor/50))
	}
	switch kind := w.ev.Kind; {
	case kind == policy.Started:
		k.restart(i)
	case kind == policy.Finished && w.ev.Denied && w.hosts[i].run.resumed: // Its start is on the disk.
	case kind == policy.Finished && w.ev.Denied:
		*a = k.at[i]
		ends = a.known
	case kind == policy.Finished && a.demanded:
		a.wanted = true
	case kind == policy.Finished && w.hosts[i].run.resumed && !a.sure: // It knows the start only as it was saved.
		a.conclude(&w.p, local, w.ev.Outcome)
		a.due, a.sure, a.wanted = a.due.Add(-w.p.longest()), false, false
	case kind == policy.Finished:
		a.conclude(&w.p, local, w.ev.Outcome)
		a.wanted, ends = false, true
	}
	for n := range w.out {
		switch e := &w.out[n]; {
		case e.Kind == policy.Save:
			a.saves, a.saved = a.known && e.State.LastRun == a.started, false
		case e.Kind == policy.Tell && e.Note == strict.NoteNotRecorded:
			a.notBefore, a.wanted = local.Add(w.p.patienceOf(i)), false
		case e.Kind == policy.Tell && e.Note == strict.NoteClaimed: // for no longer than this
			a.notBefore, a.wanted = local.Add(w.p.minInterval), false
		case e.Kind == policy.Run:
			ends, k.at[i] = false, *a
			k.granted(i, local, e.Demanded)
		}
	}
	if ends && a.sure && w.check.waits[i] == 0 && !w.hosts[i].g.Leaving() {
		k.wantDue(i, "has run")
	}
}

func (k *pacing) granted(i int, local policy.Time, demanded bool) {
	w, a := k.w, &k.now[i]
	if !w.p.windows.Open(w.instant(i).Wall) {
		w.fail("pace: %d runs outside of its windows", i)
	}
	if a.demanded = demanded; demanded {
		if a.known && local >= max(a.due, a.notBefore) && a.wanted && a.sure {
			w.fail("pace: %d runs for callers again, while its operation is due", i)
		}
		return
	}
	if a.known && local < a.due {
		w.fail("pace: %d runs %v before it is due, after %d failures", i, a.due.Sub(local), a.failures)
	}
	a.known, a.started, a.startedAt, a.due = true, local, w.now, local.Add(w.p.minInterval)
	a.saves, a.saved = false, false
}

// conclude decides when the next run is due.
func (a *attempts) conclude(p *plan, local policy.Time, o policy.Outcome) {
	a.saves, a.saved = false, false
	if p.retryAfter == 0 {
		return
	}
	wait := p.retryAfter
	switch o {
	case policy.Succeeded:
		a.failures, a.sure, wait = 0, true, p.minInterval
	case policy.NotNow:
		a.failures, a.sure = 0, true
	case policy.Failed:
		if !a.sure {
			a.failures = 0
		}
		for range a.failures {
			wait = min(2*wait, p.minInterval)
		}
		a.failures++
	}
	a.due = min(local.Add(wait), a.started.Add(p.minInterval))
}

// restart compares what a member has found on its disk with what it was told is there. A start is saved before it
// happens, at most a lease before.
func (k *pacing) restart(i int) {
	a := &k.now[i]
	a.wanted = false
	switch {
	case !a.known:
	case a.saved:
		if a.sure {
			k.wantDue(i, "has started again")
		}
	default:
		a.due, a.sure = a.due.Add(-k.w.p.longest()), false
	}
}

func (k *pacing) wantDue(i int, what string) {
	w, a := k.w, &k.now[i]
	now := w.instant(i)
	ahead := now.Wall - int64(now.Time)
	want := policy.Time(w.p.windows.Opens(int64(max(a.due, now.Time))+ahead) - ahead)
	if got := w.hosts[i].g.Status(now.Time).NextRun; got != want {
		w.fail("pace: %d %s, and is due in %v instead of %v, after %d failures", i, what, got.Sub(now.Time),
			want.Sub(now.Time), a.failures)
	}
}

// durable records that all that a member has asked to be saved is on its disk.
func (k *pacing) durable(i int) { k.now[i].saved = k.now[i].saves }

// missing returns the name of one of those members whose operation has not run since a time, or an empty string. If it
// runs once for all, any member is enough.
func (k *pacing) missing(since int64, of hostSet) string {
	if k.w.p.once {
		for i := range k.now {
			if k.now[i].startedAt >= since {
				return ""
			}
		}
		return "the operation has not run anywhere"
	}
	for i := range k.now {
		if k.now[i].startedAt < since && of&(1<<i) != 0 {
			return fmt.Sprintf("the operation of %d has not run", i)
		}
	}
	return ""
}
