package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// mined is a protocol with a fault that a test can place in its machines.
type mined struct {
	wander.Settings
	mine *mine
}

// mine is the place of the fault: a method of the machine of one member of one gate.
type mine struct {
	mu     sync.Mutex
	member wire.MemberID
	gate   wire.GateID
	method string
}

// Machine returns a machine with a mine.
func (m mined) Machine(env policy.Env) policy.Machine {
	return &bomb{m.Settings.Machine(env), env, m.mine}
}

// bomb is a machine that may have a fault in one of its methods.
type bomb struct {
	policy.Machine
	env  policy.Env
	mine *mine
}

func (b *bomb) meet(method string) {
	b.mine.mu.Lock()
	defer b.mine.mu.Unlock()
	if b.mine.method == method && b.mine.member == b.env.Self && b.mine.gate == b.env.Gate {
		var table []int
		_ = table[len(method)]
	}
}

func (b *bomb) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	b.meet("Step")
	return b.Machine.Step(now, ev, out)
}

func (b *bomb) NextWake() (policy.Time, bool) {
	b.meet("NextWake")
	return b.Machine.NextWake()
}

func (b *bomb) Expects(m *wire.Message) bool {
	b.meet("Expects")
	return b.Machine.Expects(m)
}

func (b *bomb) Status(now policy.Time) policy.Status {
	b.meet("Status")
	return b.Machine.Status(now)
}

func (b *bomb) Facts(now policy.Time, out []policy.Fact) []policy.Fact {
	b.meet("Facts")
	return b.Machine.Facts(now, out)
}

// spoil puts a fault into the machine of a gate.
func (w *world) spoil(host, gate, method string) {
	m := w.gate.mine
	m.mu.Lock()
	defer m.mu.Unlock()
	m.member, m.gate, m.method = w.agents[host].self, wire.GateIDOf(gate), method
}

// A fault in one gate's machine, wherever it is, closes that gate on that host, logs and counts the fault, and stops
// what runs under it. The agent and its other gates go on, and so does the gate on the other hosts, which hear that
// this host no longer takes part in it.
func TestAFaultClosesOneGateOnOneHost(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	for _, method := range []string{"Step", "NextWake", "Expects", "Status", "Facts"} {
		t.Run(method, func(t *testing.T) {
			spoiled := testGate()
			spoiled.mine = &mine{}
			inWorld(t, spoiled, func(w *world) {
				w.takes = 20 * time.Second
				for _, name := range trio() {
					w.start(name, AloneWait)
				}
				time.Sleep(2 * time.Minute)
				for _, name := range trio() {
					w.regates(name, "default", "more")
				}
				w.until("a runs the gate", 10*time.Minute, func() bool { return w.gates("a")["default"].Running })
				w.spoil("a", "default", method)
				w.until("the gate is closed", time.Minute, func() bool {
					return w.gates("a")["default"].State == control.Closed
				})
				w.until("its run is stopped", time.Minute, func() bool { return !w.gates("a")["default"].Running })
				g := w.gates("a")["default"]
				if g.Faults != 1 || !strings.Contains(g.Fault, "index out of range") || g.Holding ||
					!strings.Contains(g.NotRunning, "restart the agent") {
					t.Errorf("it says of the gate: %+v", g)
				}
				s, _ := source{w.agents["a"].Agent}.Status(context.Background())
				if !slices.ContainsFunc(s.Warnings, func(w control.Warning) bool {
					return strings.HasPrefix(w.Text, "gate default: ") && w.Count == 1
				}) {
					t.Errorf("it warns: %+v", s.Warnings)
				}
				if _, err := w.agents["a"].exec(context.Background(), control.ExecRequest{Gate: "default"},
					nil); !errors.As(err, new(*control.Refusal)) {
					t.Errorf("a caller is told %v", err)
				}
				w.until("the others do not count it any more", time.Minute, func() bool {
					return w.gates("b")["default"].Members == 2 && w.gates("b")["more"].Members == 3
				})
				since := time.Now()
				w.until("the others run the gate, and all the other gate", 10*time.Minute, func() bool {
					ran := map[string]bool{}
					for _, o := range w.runs(since) {
						ran[o.Name+" "+o.Gate] = true
					}
					return len(ran) == 5 && !ran["a default"]
				})
				if g := w.gates("a")["default"]; g.Faults != 1 {
					t.Errorf("%d faults of a gate that is closed", g.Faults)
				}
				if err := w.leave("a"); err != nil {
					t.Errorf("it stops with %v", err)
				}
			})
		})
	}
}
