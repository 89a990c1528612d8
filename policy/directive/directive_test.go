package directive_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

const noon int64 = 1_800_000_000_000_000_000

var (
	self  = wire.MemberID{1}
	other = wire.MemberID{2}
	third = wire.MemberID{3}
)

// eager is a machine that knows nothing of directives: it runs whenever it is wanted, woken, or denied, up to a bound.
type eager struct {
	policy.Machine
	events  []policy.EventKind
	paused  []bool
	patient int
	running bool
	// ended is what the last run has achieved, as the machine was told.
	ended policy.Outcome
	// wake is when it wants to be woken; zero is never.
	wake policy.Time
}

func (m *eager) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	m.events = append(m.events, ev.Kind)
	runs := false
	switch ev.Kind {
	case policy.Directed:
		m.paused = append(m.paused, ev.Paused)
	case policy.Received:
		return policy.AppendSend(out, &wire.Message{To: ev.Msg.From})
	case policy.Saved:
		return policy.AppendSave(out, policy.State{Seq: 7})
	case policy.Wanted, policy.Woke:
		runs = true
	case policy.Finished:
		m.running, m.ended = false, ev.Outcome
		runs = ev.Denied && m.patient > 0
		m.patient--
	case policy.Started, policy.PeersChanged, policy.Soaks, policy.Unwanted, policy.Suspended, policy.Renew,
		policy.Leave:
	}
	if !runs || m.running {
		return out
	}
	m.running = true
	out = policy.AppendRun(out, &wire.Ref{Seq: 1}, policy.Never)
	out[len(out)-1].Demanded = ev.Kind == policy.Wanted
	return policy.AppendPreSign(out, &wire.Message{Kind: 1})
}

func (m *eager) Expects(msg *wire.Message) bool { return msg.Kind != stray }
func (m *eager) NextWake() (policy.Time, bool)  { return m.wake, m.wake != 0 }

func (m *eager) Status(policy.Time) policy.Status {
	return policy.Status{Phase: "idle", Why: "nobody waits"}
}

// desk is a layer at work.
type desk struct {
	t *testing.T
	m *eager
	*directive.Layer
	now policy.Instant
	out []policy.Effect
}

func newDesk(t *testing.T, stopAfter int) *desk {
	d := &desk{t: t, m: &eager{}, now: policy.Instant{Wall: noon}}
	d.Layer = directive.New(d.m, self, stopAfter)
	d.step(policy.Event{Kind: policy.Started})
	return d
}

func (d *desk) step(ev policy.Event) { d.out = d.Layer.Step(d.now, &ev, d.out[:0]) }

func (d *desk) pass(t time.Duration) { d.now.Time, d.now.Wall = d.now.Time.Add(t), d.now.Wall+int64(t) }

// count counts the effects of a kind in the last step.
func (d *desk) count(kind policy.EffectKind) (n int) {
	for i := range d.out {
		if d.out[i].Kind == kind {
			n++
		}
	}
	return n
}

func (d *desk) last(kind policy.EffectKind) *policy.Effect {
	d.t.Helper()
	for i := len(d.out) - 1; i >= 0; i-- {
		if d.out[i].Kind == kind {
			return &d.out[i]
		}
	}
	d.t.Fatalf("there is no %v in %v", kind, d.out)
	return nil
}

// gives gives a directive of this member, to the fleet.
func (d *desk) gives(until int64) wire.Directive {
	o := d.Next(d.now.Wall, until)
	d.gossip(o)
	return o
}

func (d *desk) gossip(o wire.Directive) { d.step(policy.Event{Kind: policy.Directed, Directive: o}) }

func (d *desk) hears(o wire.Directive) {
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, To: self, Directive: o}})
}

// runs lets the gate's own operation run, and end with a status.
func (d *desk) runs(exit uint8) {
	d.t.Helper()
	d.step(policy.Event{Kind: policy.Woke})
	if d.count(policy.Run) != 1 {
		d.t.Fatal("it does not run")
	}
	outcome := policy.Succeeded
	if exit > 0 {
		outcome = policy.Failed
	}
	d.step(policy.Event{Kind: policy.Finished, Outcome: outcome, Exit: exit})
}

// stray is a kind of message that is never expected.
const stray wire.Kind = 9

func TestAMessageThatIsNotExpectedBringsNoDirective(t *testing.T) {
	d := newDesk(t, 0)
	var list wire.Failures
	list.Add(other, 1)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{
		Kind: stray, From: other, To: self, Directive: pausedBy(other, 5), Failures: list,
	}})
	if d.Paused() || d.Failures() != (wire.Failures{}) {
		t.Error("it does")
	}
}

func pausedBy(by wire.MemberID, stamp uint64) wire.Directive {
	return wire.Directive{Stamp: stamp, By: by, Until: wire.ForEver}
}

func TestAMemberNeverRunsUnderADirectiveThatItKnows(t *testing.T) {
	for name, tell := range map[string]func(d *desk){
		"given here":        func(d *desk) { d.gives(noon + int64(time.Hour)) },
		"heard by gossip":   func(d *desk) { d.gossip(pausedBy(other, 5)) },
		"came with a token": func(d *desk) { d.hears(pausedBy(other, 5)) },
		"for this host": func(d *desk) {
			d.step(policy.Event{Kind: policy.Directed, Here: true, Directive: pausedBy(self, 5)})
		},
		"of an earlier life": func(d *desk) {
			d.step(policy.Event{Kind: policy.Started, State: policy.State{Directive: pausedBy(other, 5)}})
		},
		"of an earlier life, for this host": func(d *desk) {
			d.step(policy.Event{Kind: policy.Started, State: policy.State{Here: noon + 1}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 0)
			d.m.patient = 5 // it tries again and again
			tell(d)
			for _, kind := range []policy.EventKind{policy.Woke, policy.Wanted, policy.Woke} {
				if d.step(policy.Event{Kind: kind}); d.count(policy.Run) > 0 || d.count(policy.PreSign) > 0 {
					t.Fatalf("after %v: %v", kind, d.out)
				}
			}
			s := d.Status(0)
			if s.Why != directive.WhyPaused || s.Bar != policy.BarPaused || s.NextRun != policy.Never ||
				!d.Paused() {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestADemandWaitsForTheEndOfAPause(t *testing.T) {
	d := newDesk(t, 0)
	d.gives(wire.ForEver)
	d.step(policy.Event{Kind: policy.Wanted})
	if n := len(d.m.events); d.m.events[n-1] == policy.Wanted {
		t.Error("the machine knows of the demand")
	}
	if d.gives(0); d.count(policy.Run) != 1 {
		t.Errorf("it does not run: %v", d.out)
	}
	d.step(policy.Event{Kind: policy.Finished})
	d.gives(wire.ForEver)
	if d.gives(0); d.count(policy.Run) != 0 {
		t.Error("a demand was served twice")
	}
}

func TestADemandThatIsTakenBackDuringAPauseIsGone(t *testing.T) {
	d := newDesk(t, 0)
	d.gives(wire.ForEver)
	d.step(policy.Event{Kind: policy.Wanted})
	d.step(policy.Event{Kind: policy.Unwanted})
	if d.gives(0); d.count(policy.Run) != 0 {
		t.Errorf("it runs: %v", d.out)
	}
}

func TestARunThatHasBegunEndsAsUsual(t *testing.T) {
	d := newDesk(t, 0)
	d.step(policy.Event{Kind: policy.Woke})
	if d.gives(wire.ForEver); d.count(policy.Stop) != 0 || !d.m.running {
		t.Errorf("the pause ended it: %v", d.out)
	}
	d.step(policy.Event{Kind: policy.Finished})
	if d.m.running {
		t.Error("the machine does not know of its end")
	}
}

func TestAPauseEndsByItself(t *testing.T) {
	for name, here := range map[string]bool{"of the fleet": false, "of this host": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 0)
			o := d.Next(noon, noon+int64(time.Hour))
			d.step(policy.Event{Kind: policy.Directed, Here: here, Directive: o})
			d.pass(time.Hour - time.Second)
			if d.step(policy.Event{Kind: policy.Woke}); !d.Paused() {
				t.Fatal("it ended early")
			}
			at, ok := d.NextWake()
			if !ok || at != policy.Time(time.Hour) {
				t.Fatalf("it wakes at %v, %v", at, ok)
			}
			d.pass(time.Second)
			if d.step(policy.Event{Kind: policy.Woke}); d.Paused() || d.m.paused[len(d.m.paused)-1] ||
				d.count(policy.Run) != 1 {
				t.Errorf("it does not end: %v", d.out)
			}
		})
	}
}

func TestAPauseForEverHasNoDeadline(t *testing.T) {
	d := newDesk(t, 0)
	d.gives(wire.ForEver)
	if at, ok := d.NextWake(); ok {
		t.Errorf("it wakes at %v", at)
	}
}

func TestTheWallClockMaySayAnything(t *testing.T) {
	d := newDesk(t, 0)
	d.now.Wall = -1 << 62
	d.hears(wire.Directive{Stamp: 1, By: other, Until: 1 << 62})
	if d.Paused() {
		t.Error("a stamp of 1970 was believed in 1823")
	}
	d.step(policy.Event{Kind: policy.Directed, Here: true, Directive: wire.Directive{Until: 1 << 62}})
	if at, ok := d.NextWake(); !d.Paused() || ok && at < policy.Never/2 {
		t.Errorf("%v, %v", at, ok)
	}
}

func TestTheNewestDirectiveCounts(t *testing.T) {
	d := newDesk(t, 0)
	stamp := uint64(noon / 1e6)
	d.hears(pausedBy(other, stamp+5))
	d.hears(wire.Directive{Stamp: stamp + 4, By: third})
	if !d.Paused() {
		t.Error("an older directive counts")
	}
	d.hears(wire.Directive{Stamp: stamp + 5, By: third})
	if d.Paused() {
		t.Error("of two directives of one stamp that of the lower member counts")
	}
	if o := d.gives(wire.ForEver); o.Stamp != stamp+6 || !d.Paused() {
		t.Errorf("a directive of this member is not newer than all it knows: %+v", o)
	}
}

func TestADirectiveOfTheFarFutureIsNotBelieved(t *testing.T) {
	d := newDesk(t, 0)
	d.hears(pausedBy(other, wire.LatestStamp(noon)+1))
	if d.Paused() || d.count(policy.Proclaim) > 0 {
		t.Error("it was believed")
	}
	d.hears(pausedBy(other, wire.LatestStamp(noon)))
	if !d.Paused() {
		t.Error("a clock that is a day ahead is not believed")
	}
}

func TestANewDirectiveIsSavedAndProclaimedOnce(t *testing.T) {
	d := newDesk(t, 0)
	d.step(policy.Event{Kind: policy.Saved}) // the machine has something to save of its own
	o := pausedBy(other, 5)
	d.hears(o)
	if e := d.last(policy.Save); e.State.Directive != o || e.State.Seq != 7 {
		t.Errorf("saved %+v", e.State)
	}
	if e := d.last(policy.Proclaim); e.Msg.Directive != o {
		t.Errorf("proclaimed %+v", e.Msg.Directive)
	}
	if d.hears(o); d.count(policy.Save)+d.count(policy.Proclaim) > 0 {
		t.Errorf("again: %v", d.out)
	}
}

func TestEveryMessageAndEverySaveHasTheNewestDirective(t *testing.T) {
	d := newDesk(t, 0)
	o := pausedBy(other, 5)
	d.step(policy.Event{Kind: policy.Woke})
	d.hears(o)
	d.step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed, Exit: 9})
	d.hears(o)
	if e := d.last(policy.Send); e.Msg.Directive != o || e.Msg.Failures.Len() != 1 || e.Msg.Failures.Exits[0] != 9 {
		t.Errorf("sent %+v", e.Msg)
	}
	d.step(policy.Event{Kind: policy.Directed, Here: true, Directive: pausedBy(self, 5)})
	d.step(policy.Event{Kind: policy.Saved})
	if e := d.last(policy.Save); e.State.Directive != o || e.State.Here != wire.ForEver {
		t.Errorf("saved %+v", e.State)
	}
}

func TestAPauseOfOneHostStaysThere(t *testing.T) {
	d := newDesk(t, 0)
	d.step(policy.Event{Kind: policy.Directed, Here: true, Directive: pausedBy(self, 5)})
	if d.Newest() != (wire.Directive{}) || d.count(policy.Proclaim) > 0 || d.count(policy.Save) != 1 {
		t.Errorf("%+v, %v", d.Newest(), d.out)
	}
	d.gives(0)
	if !d.Paused() {
		t.Error("a directive to the fleet ends the pause of this host")
	}
	d.step(policy.Event{Kind: policy.Directed, Here: true})
	if d.Paused() {
		t.Error("it does not end")
	}
}

func TestAGateWithoutDirectivesIsAsWithoutTheLayer(t *testing.T) {
	with, without := &eager{}, &eager{}
	l := directive.New(with, self, 3)
	dice := rand.New(rand.NewPCG(1, 2))
	kinds := []policy.EventKind{
		policy.Saved, policy.Received, policy.Wanted, policy.Woke, policy.Finished, policy.Unwanted, policy.Leave,
	}
	for range 1000 {
		ev := policy.Event{Kind: kinds[dice.IntN(len(kinds))]}
		a, b := l.Step(policy.Instant{Wall: noon}, &ev, nil), without.Step(policy.Instant{Wall: noon}, &ev, nil)
		if len(a) != len(b) {
			t.Fatalf("%v: %v, without the layer %v", ev.Kind, a, b)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("%v: %+v, without the layer %+v", ev.Kind, a[i], b[i])
			}
		}
	}
}

func TestTheBrakePausesAfterFailuresOfSoManyHosts(t *testing.T) {
	d := newDesk(t, 3)
	var list wire.Failures
	list.Add(other, 1)
	list.Add(third, 2)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, Failures: list}})
	d.runs(3)
	o := d.Newest()
	if !d.Paused() || o.By != self || o.Until != wire.ForEver || d.count(policy.Proclaim) != 1 {
		t.Errorf("the third host failed: %+v, %v", o, d.out)
	}
	if f := d.Failures(); f.Len() != 3 || f.Exits[2] != 3 {
		t.Errorf("%+v", f)
	}
}

func TestOneBadHostDoesNotStopAFleet(t *testing.T) {
	d := newDesk(t, 3)
	for range 10 {
		d.runs(1)
	}
	if f := d.Failures(); d.Paused() || f.Len() != 1 {
		t.Errorf("%+v", f)
	}
}

func TestASuccessEndsARowOfFailures(t *testing.T) {
	d := newDesk(t, 2)
	var list wire.Failures
	list.Add(other, 1)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, Failures: list}})
	d.runs(0)
	d.runs(1)
	if f := d.Failures(); d.Paused() || f.Len() != 1 {
		t.Errorf("%+v", f)
	}
}

func TestARunByHandCountsForTheBrakeAndACallersDoesNot(t *testing.T) {
	for _, byHand := range []bool{true, false} {
		d := newDesk(t, 1)
		d.step(policy.Event{Kind: policy.Wanted})
		if run := d.last(policy.Run); !run.Demanded {
			t.Fatalf("%+v", run)
		}
		d.m.ended = policy.NotNow // It has heard of neither.
		d.step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed, Exit: 1, ByHand: byHand})
		if f := d.Failures(); d.Paused() != byHand || (f.Len() > 0) != byHand {
			t.Errorf("by hand %v: paused %v, %+v", byHand, d.Paused(), d.Failures())
		}
		if want := (map[bool]policy.Outcome{true: policy.Succeeded, false: policy.Failed}[byHand]); d.m.ended != want {
			t.Errorf("by hand %v: the machine hears of %v", byHand, d.m.ended)
		}
	}
}

func TestASuccessByHandEndsARowOfFailures(t *testing.T) {
	d := newDesk(t, 3)
	d.runs(1)
	d.step(policy.Event{Kind: policy.Wanted})
	d.step(policy.Event{Kind: policy.Finished, ByHand: true})
	if f := d.Failures(); f.Len() > 0 {
		t.Errorf("%+v", f)
	}
}

func TestARunThatDidNotHappenIsNeitherFailureNorSuccess(t *testing.T) {
	d := newDesk(t, 2)
	var list wire.Failures
	list.Stamp = 9
	list.Add(other, 1)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, Failures: list}})
	for name, end := range map[string]policy.Event{
		"too late to start": {Denied: true, Outcome: policy.Failed, Exit: 1},
		"not now":           {Outcome: policy.NotNow, Exit: 75},
		"stopped here":      {Outcome: policy.Failed},
	} {
		d.step(policy.Event{Kind: policy.Woke})
		end.Kind = policy.Finished
		if d.step(end); d.Failures() != list || d.Paused() {
			t.Errorf("%s: %+v", name, d.Failures())
		}
	}
}

func TestWithoutTheSettingThereIsNoBrake(t *testing.T) {
	d := newDesk(t, 0)
	d.runs(1)
	if d.Paused() {
		t.Error("it is paused")
	}
	if f := d.Failures(); f.Len() != 1 {
		t.Error("others, which have the setting, do not learn of the failure")
	}
}

func TestResumeForgetsTheFailures(t *testing.T) {
	d := newDesk(t, 1)
	d.runs(1)
	d.gives(0)
	if f := d.Failures(); d.Paused() || f != (wire.Failures{}) {
		t.Errorf("%+v", f)
	}
}

func TestTheBrakeStopsAFleetOfWhichThisHostIsPaused(t *testing.T) {
	d := newDesk(t, 1)
	d.step(policy.Event{Kind: policy.Woke})
	d.step(policy.Event{Kind: policy.Directed, Here: true, Directive: pausedBy(self, 5)})
	d.step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed, Exit: 1})
	if !d.Newest().Pauses(noon) {
		t.Error("the fleet goes on")
	}
}

func TestFailuresOfBeforeADirectiveDoNotComeBack(t *testing.T) {
	d := newDesk(t, 2)
	var list wire.Failures
	list.Stamp = 20
	list.Add(other, 1)
	d.gives(0)
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, Failures: list}})
	if f := d.Failures(); f.Len() != 0 {
		t.Errorf("a member that does not know the directive brought %+v", f)
	}
	d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, Directive: d.Newest(), Failures: list}})
	if d.Failures() != list {
		t.Errorf("%+v, want %+v", d.Failures(), list)
	}
}

// A step without a directive in it allocates nothing.
func TestTheLayerAllocatesNothing(t *testing.T) {
	m := wander.New(wander.Config{
		Env:      policy.Env{Gate: 1, Self: self, Entropy: rand.NewPCG(1, 2)},
		Settings: &wander.Settings{Skip: time.Second, MinInterval: time.Hour},
	})
	l := directive.New(m, self, 3)
	out := make([]policy.Effect, 0, 8)
	ev := policy.Event{Kind: policy.Started}
	out = l.Step(policy.Instant{Wall: noon}, &ev, out)
	ev.Kind = policy.Woke
	if n := testing.AllocsPerRun(100, func() { out = l.Step(policy.Instant{Wall: noon}, &ev, out[:0]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// The earlier of what the machine and the end of a pause ask for.
func TestTheMachinesWakeComesBeforeALaterEndOfAPause(t *testing.T) {
	d := newDesk(t, 0)
	d.gives(d.now.Wall + int64(time.Minute))
	for machine, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: time.Minute} {
		d.m.wake = d.now.Time.Add(machine)
		if at, ok := d.NextWake(); !ok || at.Sub(d.now.Time) != want {
			t.Errorf("the machine wants to be woken in %v, and the layer in %v", machine, at.Sub(d.now.Time))
		}
	}
}

func TestTheBrakeFollowsItsSetting(t *testing.T) {
	d := newDesk(t, 0)
	d.runs(1)
	d.StopAfter(1)
	d.runs(1)
	if !d.Paused() {
		t.Error("a failure after the setting does not pause the gate")
	}
}

// Of two lists under one directive the one with the later stamp counts, also if the earlier one comes later.
func TestAnOlderListOfFailuresDoesNotComeBack(t *testing.T) {
	d := newDesk(t, 0)
	var older wire.Failures
	older.Add(other, 1)
	newer := older
	newer.Add(third, 1)
	for _, list := range []wire.Failures{newer, older} {
		d.step(policy.Event{Kind: policy.Received, Msg: wire.Message{From: other, To: self, Failures: list}})
	}
	if got := d.Failures(); got != newer {
		t.Errorf("it knows of %d failures, want 2", got.Len())
	}
}
