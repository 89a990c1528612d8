package directive_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/wire"
)

// passing is a machine that passes its token on when a run ends, or runs again if it is greedy.
type passing struct {
	*eager
	greedy bool
}

func (m *passing) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	out = m.eager.Step(now, ev, out)
	if ev.Kind != policy.Finished || ev.Denied {
		return out
	}
	if m.greedy {
		m.running = true
		return policy.AppendRun(out, &wire.Ref{Seq: 2}, policy.Never)
	}
	return policy.AppendSend(out, &wire.Message{From: self, To: other})
}

const night = 20 * time.Hour

// once returns a desk at a gate that runs once in a night.
func once(t *testing.T) (*desk, *passing) {
	d := newDesk(t, 0)
	m := &passing{eager: d.m}
	d.Layer = directive.New(m, self, 0)
	d.Once(night)
	d.step(policy.Event{Kind: policy.Started})
	return d, m
}

// begins lets the gate's own operation begin, and an hour pass.
func (d *desk) begins() {
	d.t.Helper()
	if d.step(policy.Event{Kind: policy.Woke}); d.count(policy.Run) != 1 {
		d.t.Fatal("it does not run")
	}
	d.pass(time.Hour)
}

func (d *desk) succeeds() { d.step(policy.Event{Kind: policy.Finished, Outcome: policy.Succeeded}) }

// "Whoever has run with success pauses the gate until the interval is over, counted from the start of its run. The
// token never goes on without that."
func TestASuccessRestsTheGateForAllAndTheTokenSaysSo(t *testing.T) {
	d, _ := once(t)
	d.begins()
	d.succeeds()
	o := d.Newest()
	if want := noon + int64(night); o.Until != want || !d.Paused() || d.count(policy.Proclaim) != 1 {
		t.Fatalf("paused %v until %v, want %v: %v", d.Paused(), o.Until, want, d.out)
	}
	if sent := d.last(policy.Send); sent.Msg.Directive != o {
		t.Errorf("the token goes on with %+v", sent.Msg.Directive)
	}
	d.pass(night - time.Hour - 1)
	if d.step(policy.Event{Kind: policy.Woke}); d.count(policy.Run) > 0 {
		t.Error("it runs again in the same interval")
	}
	d.pass(1)
	if d.step(policy.Event{Kind: policy.Woke}); d.Paused() || d.count(policy.Run) != 1 {
		t.Errorf("the interval is over, and it does not run: %v", d.out)
	}
}

// A machine that would run again in the step in which its run has ended does not.
func TestNothingRunsInTheStepThatEndsAnInterval(t *testing.T) {
	d, m := once(t)
	d.begins()
	m.greedy = true
	if d.succeeds(); d.count(policy.Run) > 0 || !d.Paused() {
		t.Errorf("%v", d.out)
	}
}

func TestWhatDoesNotRestTheGate(t *testing.T) {
	for name, end := range map[string]policy.Event{
		"a failure":                {Outcome: policy.Failed, Exit: 1},
		"an operation that cannot": {Outcome: policy.NotNow},
		"a run that was denied":    {Denied: true, Outcome: policy.Succeeded},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := once(t)
			d.begins()
			end.Kind = policy.Finished
			if d.step(end); d.Newest() != (wire.Directive{}) {
				t.Errorf("%+v", d.Newest())
			}
		})
	}
	t.Run("a command of a caller", func(t *testing.T) {
		d, _ := once(t)
		d.step(policy.Event{Kind: policy.Wanted})
		if d.succeeds(); d.Newest() != (wire.Directive{}) {
			t.Errorf("%+v", d.Newest())
		}
	})
}

func TestARunByHandRestsTheGateToo(t *testing.T) {
	d, _ := once(t)
	d.step(policy.Event{Kind: policy.Wanted})
	d.step(policy.Event{Kind: policy.Finished, ByHand: true, Outcome: policy.Succeeded})
	if d.Newest().Until != noon+int64(night) {
		t.Errorf("%+v", d.Newest())
	}
}

// "A pause of an operator that lasts longer stays."
func TestTheLongerPauseCounts(t *testing.T) {
	for name, c := range map[string]struct{ pause, want int64 }{
		"longer":   {wire.ForEver, wire.ForEver},
		"shorter":  {noon + int64(2*time.Hour), noon + int64(night)},
		"past":     {noon + 1, noon + int64(night)},
		"resuming": {0, noon + int64(night)},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := once(t)
			d.begins()
			d.gives(c.pause)
			if d.succeeds(); d.Newest().Until != c.want {
				t.Errorf("until %d, want %d", d.Newest().Until, c.want)
			}
		})
	}
}

// A clock that was wrong when the run began does not stop the fleet for years.
func TestAClockThatIsSetBackDuringARunMakesNoLongerPause(t *testing.T) {
	d, _ := once(t)
	d.now.Wall += int64(365 * 24 * time.Hour)
	d.begins()
	d.now.Wall = noon
	if d.succeeds(); d.Newest().Until > noon+int64(night) {
		t.Errorf("it pauses for %v", time.Duration(d.Newest().Until-noon))
	}
}

// A run whose grant has outlived its host counts from when that host is back.
func TestARunThatIsTakenUpAgainRestsTheGate(t *testing.T) {
	d, _ := once(t)
	d.pass(time.Minute)
	d.step(policy.Event{Kind: policy.Started, State: policy.State{Kept: policy.Kept{Holder: self}}})
	if d.succeeds(); d.Newest().Until != noon+int64(time.Minute+night) {
		t.Errorf("%+v", d.Newest())
	}
}
