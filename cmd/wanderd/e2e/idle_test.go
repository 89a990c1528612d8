package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// idleFor is how long the processor time of an idle fleet is added up.
const idleFor = 20 * time.Second

// BenchmarkIdleAgent measures what an agent costs that has nothing to do but pass the token on: one of five, with every
// constant at its default.
func BenchmarkIdleAgent(b *testing.B) {
	for b.Loop() {
		f := newFleet(b, 5)
		f.start()
		until(b, "everybody has run", func() bool { return len(f.runs()) >= len(f.nodes) })
		before := f.processorTime()
		time.Sleep(idleFor)
		used := f.processorTime() - before
		var resident float64
		for _, n := range f.nodes {
			resident += n.residentMiB()
		}
		agents := float64(len(f.nodes))
		b.ReportMetric(resident/agents, "MiB-resident/agent")
		b.ReportMetric(used.Seconds()/idleFor.Seconds()/agents*1000, "ms-cpu/s/agent")
		for _, n := range f.nodes {
			n.kill()
		}
	}
}

// processorTime is what all processes of the fleet have used, in user and system mode.
func (f *fleet) processorTime() time.Duration {
	f.t.Helper()
	const perSecond = 100 // USER_HZ, the same on every Linux that Go runs on
	var ticks time.Duration
	for _, n := range f.nodes {
		stat := n.proc("stat")
		fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
		var user, system time.Duration
		if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
			f.t.Fatal(err)
		}
		ticks += user + system
	}
	return ticks * time.Second / perSecond
}

// residentMiB is the memory that the process has in use.
func (n *node) residentMiB() float64 {
	for line := range strings.Lines(n.proc("status")) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kib float64
			if _, err := fmt.Sscan(size, &kib); err != nil {
				n.fleet.t.Fatal(err)
			}
			return kib / 1024
		}
	}
	n.fleet.t.Fatal("no VmRSS")
	return 0
}

func (n *node) proc(file string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", n.cmd.Process.Pid, file))
	if err != nil {
		n.fleet.t.Skip("needs /proc: ", err)
	}
	return string(text)
}
