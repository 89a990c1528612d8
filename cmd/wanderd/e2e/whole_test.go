package e2e

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// whole asks the node for the status of the fleet.
func (n *node) whole() (control.Fleet, bool) {
	n.fleet.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program(n.fleet.t), "status", "--fleet", "--json", "--state-dir", n.state).Output()
	var f control.Fleet
	if err != nil || json.Unmarshal(out, &f) != nil {
		return f, false
	}
	return f, true
}

// missing are the members that have not answered.
func missing(f *control.Fleet) []string {
	var names []string
	for _, m := range f.Members {
		if m.Missing != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// Each host tells of all, and names the one that was stopped; the history has the runs of all hosts.
func TestAFleetFromAnyHost(t *testing.T) {
	f := newFleet(t, 4, "--min-interval", "2s", "--skip", "250ms")
	f.start()
	for _, n := range f.nodes {
		until(t, n.name+" hears all", func() bool {
			all, ok := n.whole()
			return ok && len(all.Members) == len(f.nodes) && len(missing(&all)) == 0 && len(all.Tokens) == 1 && all.Tokens[0].Missing == ""
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

// startMany starts a large fleet, and waits until all hear all.
func (f *fleet) startMany() {
	f.t.Helper()
	f.seeds = 5
	f.start()
	until(f.t, "all hear all", func() bool {
		time.Sleep(2 * time.Second) // all these processes start on this machine
		for _, n := range f.nodes {
			select {
			case <-n.ended: // another one has taken its port for a connection
				n.addr = freeAddr(f.t)
				n.bind = n.addr
				n.start()
			default:
			}
		}
		all, ok := f.nodes[7].whole()
		return ok && len(all.Members) == len(f.nodes) && len(missing(&all)) == 0
	})
}

// BenchmarkFleetStatus measures "wanderd status --fleet" in a fleet of 200 agents on this machine, with the start of its process.
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
