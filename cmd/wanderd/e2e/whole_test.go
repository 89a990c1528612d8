package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/ports"
)

// whole asks the node for the status of the fleet.
func (n *node) whole() (control.Fleet, bool) {
	n.fleet.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program(n.fleet.t), "status", "--fleet", "--json", "--state-dir", n.state).
		Output()
	var f control.Fleet
	if err != nil || json.Unmarshal(out, &f) != nil {
		return f, false
	}
	return f, true
}

// missing returns the members that have not answered.
func missing(f *control.Fleet) []string {
	var names []string
	for _, m := range f.Members {
		if m.Missing != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Each host reports all, and names the one that was stopped; the history has the runs of all hosts.
func TestAFleetFromAnyHost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 4, "--min-interval", "2s", "--skip", "250ms")
	f.start()
	for _, n := range f.nodes {
		until(t, n.name+" hears all", func() bool {
			all, ok := n.whole()
			return ok && len(all.Members) == len(f.nodes) && len(missing(&all)) == 0 && len(all.Tokens) == 1 &&
				all.Tokens[0].Missing == ""
		})
	}
	until(t, "everybody has run", func() bool {
		runs := f.runs()
		return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) == 0 })
	})
	out, err := exec.Command(program(t), "history", "--fleet", "--state-dir", f.nodes[2].state).CombinedOutput()
	for _, n := range f.nodes {
		if err != nil || !strings.Contains(string(out), "  "+n.name+"\n") {
			t.Errorf("no run of %s, %v:\n%s", n.name, err, out)
		}
	}
	f.nodes[3].signal(syscall.SIGSTOP)
	until(t, "the stopped one is named", func() bool {
		all, ok := f.nodes[0].whole()
		return ok && slices.Equal(missing(&all), []string{"m4"})
	})
	f.nodes[3].signal(syscall.SIGCONT)
	until(t, "it answers again", func() bool {
		all, ok := f.nodes[0].whole()
		return ok && len(missing(&all)) == 0
	})
}

// atATime is how many agents of a large fleet start at a time: few enough that they need the machine for less time than
// that after which members suspect each other.
const atATime = 10

// startMany starts a large fleet in groups, each of which is in the fleet before the next starts, and waits until every
// member sees all.
func (f *fleet) startMany() {
	f.t.Helper()
	f.seeds = 5
	see := func(nodes []*node, members int) {
		f.t.Helper()
		until(f.t, fmt.Sprintf("%s and others see %d members", nodes[0].name, members), func() bool {
			time.Sleep(200 * time.Millisecond) // to ask is work, too
			all := true
			for _, n := range nodes {
				all = n.sees(members) && all // it looks after all of them
			}
			return all
		})
	}
	for at := 0; at < len(f.nodes); at += atATime {
		group := f.nodes[at:min(at+atATime, len(f.nodes))]
		for _, n := range group {
			n.start()
		}
		see(group, at+len(group))
	}
	see(f.nodes, len(f.nodes))
}

// sees reports whether the node counts so many members, or more. If another process has taken the node's port for a
// connection, it starts the node again.
func (n *node) sees(members int) bool {
	select {
	case <-n.ended:
		n.addr = ports.For(n.fleet.t)
		n.bind = n.addr
		n.start()
		return false
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := n.control().Status(ctx)
	return err == nil && s.Members >= members
}

func (n *node) control() *control.Client { return control.Dial(filepath.Join(n.state, "wanderd.sock")) }

// BenchmarkFleetStatus measures "wanderd status --fleet" in a fleet of 200 agents on this machine, with the start of
// its process.
func BenchmarkFleetStatus(b *testing.B) {
	f := newFleet(b, 200, "--min-interval", "10m", "--log-level", "info")
	f.startMany()
	var took []time.Duration
	unheard := 0
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		all, ok := f.nodes[i%len(f.nodes)].whole()
		if took = append(took, time.Since(begun)); !ok {
			b.Fatal("no answer")
		}
		unheard += len(missing(&all))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms-median")
	b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms-max")
	b.ReportMetric(float64(unheard), "unheard")
}
