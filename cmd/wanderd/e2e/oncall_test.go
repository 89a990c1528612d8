package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onCallFleet starts agents with a gate on call, and waits until each sees the others.
func onCallFleet(t *testing.T, size int, settings ...string) *fleet {
	t.Helper()
	f := onDemand(t, size, settings...)
	f.start()
	f.meet(size)
	return f
}

// meet waits until each node that runs sees so many members.
func (f *fleet) meet(size int) {
	f.t.Helper()
	for _, n := range f.nodes {
		if n.cmd == nil {
			continue
		}
		until(f.t, fmt.Sprintf("%s sees %d members", n.name, size), func() bool {
			s, ok := n.status()
			return ok && s.Gates[0].Members == size
		})
	}
}

// holder returns the node that says that it holds the token.
func (f *fleet) holder() (holder *node) {
	f.t.Helper()
	until(f.t, "somebody holds the token", func() bool {
		for _, n := range f.nodes {
			if n.cmd == nil {
				continue
			}
			if s, ok := n.status(); ok && s.Gates[0].Holding {
				holder = n
			}
		}
		return holder != nil
	})
	return holder
}

// Each host is granted the gate in turn. After kill -9 of the holder's agent the others are served, and so is that host
// once its agent is back: also without its state directory, with a new key.
func TestTheTokenOfAGateOnCallComesToEveryHost(t *testing.T) {
	t.Parallel()
	f := onCallFleet(t, 10)
	for range 2 {
		for _, n := range f.nodes {
			n.exec("--wait", "30s", "--", "true").wantCode(0, "")
		}
	}
	atRest := f.nodes[3]
	atRest.exec("--wait", "30s", "--", "true").wantCode(0, "")
	if h := f.holder(); h != atRest {
		t.Errorf("the token is at %s after the run there", h.name)
	}
	atRest.kill()
	f.nodes[4].exec("--wait", "30s", "--", "true").wantCode(0, "")
	c, dir, pids := f.nodes[5].runDeaf()
	f.nodes[5].kill()
	c.wantCode(70, "the agent on this host has died")
	wantAllGone(t, dir, pids)
	f.nodes[6].exec("--wait", "30s", "--", "true").wantCode(0, "")
	if err := os.RemoveAll(atRest.state); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*node{atRest, f.nodes[5]} {
		n.start()
	}
	for _, n := range f.nodes {
		n.exec("--wait", "30s", "--", "true").wantCode(0, "")
	}
}

// Callers on all hosts contend for a gate on call, and never do two run at once. A fleet that is restarted as a whole
// goes on with that, whether its agents are stopped or killed.
func TestCallersOfAGateOnCallNeverRunTogether(t *testing.T) {
	t.Parallel()
	f := onCallFleet(t, 5)
	lock := filepath.Join(f.dir, "lock")
	script := f.script("mkdir " + lock + " || exit 99\nsleep 0.02\nrmdir " + lock + "\n")
	contend := func() {
		var callers []*caller
		for range 4 {
			for _, n := range f.nodes {
				callers = append(callers, n.exec("--", script).begin())
			}
		}
		for _, c := range callers {
			c.wantCode(0, "")
		}
	}
	contend()
	for _, gracefully := range []bool{true, false} {
		for _, n := range f.nodes {
			if !gracefully {
				n.kill()
				continue
			}
			n.signal(syscall.SIGTERM)
			if code := n.exits(); code != 0 {
				t.Errorf("%s exits with %d", n.name, code)
			}
		}
		f.start()
		f.meet(5)
		contend()
	}
}

// Hosts with another policy in the same gate are another fleet, and "status --check" says so on both sides.
func TestAMixedFleetSaysThatItHasTwoPolicies(t *testing.T) {
	t.Parallel()
	f := onDemand(t, 4) // a part with one host would wait for others
	for _, n := range f.nodes[:2] {
		n.args = []string{"--policy", "wander"} // for all gates of this host
	}
	f.start()
	for n, says := range map[*node]string{
		f.nodes[0]: "wander, version 1 on this host, and call, version 1 on others (m",
		f.nodes[2]: "call, version 1 on this host, and wander, version 1 on others (m",
	} {
		until(t, n.name+" says so", func() bool {
			out, _, code := call(t, program(t), "status", "--check", "--state-dir", n.state)
			return code == 2 && strings.Contains(strings.Join(strings.Fields(out), " "), says)
		})
		n.exec("--wait", "30s", "--", "true").wantCode(0, "")
	}
	for _, n := range f.nodes[:2] {
		n.kill()
		n.args = nil
		n.start()
	}
	f.meet(4)
	for _, n := range f.nodes {
		n.exec("--wait", "30s", "--", "true").wantCode(0, "")
	}
}

// A gate on call with a hook runs it on all hosts, one at a time, and on no host more often than min_interval says.
func TestAHookOfAGateOnCallRunsOnAllHosts(t *testing.T) {
	t.Parallel()
	const interval = 2 * time.Second
	f := newFleet(t, 3, "--policy", "call", "--skip", "100ms", "--min-interval", interval.String())
	begun := time.Now()
	f.start()
	until(t, "each has run three times", func() bool {
		runs := f.runs()
		return by(runs, "m1") > 2 && by(runs, "m2") > 2 && by(runs, "m3") > 2
	})
	f.nodes[1].exec("--", "true").wantCode(0, "")
	runs, most := f.runs(), 0
	for _, n := range f.nodes {
		most = max(most, by(runs, n.name))
	}
	if took := time.Since(begun); time.Duration(most-1)*interval > took {
		t.Errorf("a host has run %d times in %v", most, took)
	}
	if f.beside > 0 {
		t.Errorf("%d hooks found another one running", f.beside)
	}
}

// The token is revived while its holder stands still. When the holder learns of it, its command is stopped if on_lost
// is "stop".
func TestACommandWhoseTokenWasRevivedElsewhereIsStopped(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"wander", "call"} {
		t.Run(policy, func(t *testing.T) {
			f := onDemand(t, 3, `policy = "`+policy+`"`, `on_lost = "stop"`)
			f.start()
			n := f.nodes[0]
			until(t, "they see each other", func() bool {
				s, ok := n.status()
				return ok && s.Members == 3
			})
			c, dir, pids := n.runDeaf("--kill-after", "100ms")
			n.signal(syscall.SIGSTOP)
			f.nodes[1].exec("-w", "30s", "--", "true").wantCode(0, "") // the token is somewhere else
			n.signal(syscall.SIGCONT)
			c.wantCode(70, "the token was revived elsewhere")
			wantAllGone(t, dir, pids)
		})
	}
}
