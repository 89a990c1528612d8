package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// settlesIn is how long members ask others for the whole membership after they have joined.
	settlesIn = 45 * time.Second
	// idleFor is how long the processor time of an idle fleet is added up.
	idleFor = time.Minute
)

// BenchmarkIdleAgent measures the cost of an agent that only passes the token on, with every constant at its default.
// Pages of the program that many agents share count for each of them in the resident figure, and once for all of them
// in the proportional one.
func BenchmarkIdleAgent(b *testing.B) {
	for _, size := range []int{5, 20, 60, 200} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for b.Loop() {
				f := newFleet(b, size, "--log-level", "info")
				f.hook("#!/bin/sh\necho \"start $WANDERD_NAME $WANDERD_SEQ $(date +%s%N) $$\" >>\"$JOURNAL\"\n")
				begun := time.Now()
				f.startMany()
				b.Logf("all %d see all after %.0f s", size, time.Since(begun).Seconds())
				time.Sleep(settlesIn)
				for before := -1; before < len(f.runs()); time.Sleep(10 * time.Second) {
					before = len(f.runs()) // everybody has run soon, and then there is nothing to do
				}
				b.Logf("%d runs", len(f.runs()))
				f.measureIdle(b)
				for _, n := range f.nodes {
					n.kill()
				}
			}
		})
	}
}

// measureIdle adds up what each agent uses for a while.
func (f *fleet) measureIdle(b *testing.B) {
	b.Helper()
	figures := map[string][]float64{}
	before := make([]time.Duration, len(f.nodes))
	for i, n := range f.nodes {
		before[i] = n.processorTime()
	}
	busy, all := machineTime(b)
	time.Sleep(idleFor)
	busyNow, allNow := machineTime(b)
	b.ReportMetric(100*(busyNow-busy)/(allNow-all), "%-of-machine")
	for i, n := range f.nodes {
		used := n.processorTime() - before[i]
		figures["ms-cpu/s"] = append(figures["ms-cpu/s"], 1000*used.Seconds()/idleFor.Seconds())
		for _, what := range []string{"Rss", "Pss", "Anonymous"} {
			figures["MiB-"+what] = append(figures["MiB-"+what], n.memoryMiB(what))
		}
	}
	for unit, of := range figures {
		slices.Sort(of)
		sum := 0.0
		for _, v := range of {
			sum += v
		}
		b.ReportMetric(sum/float64(len(of)), unit+"-mean")
		b.ReportMetric(of[len(of)/2], unit+"-median")
		b.ReportMetric(of[len(of)-1], unit+"-max")
	}
}

// machineTime returns how long the machine's processors have worked since its start, and how much time there was in
// all, in the kernel's ticks.
func machineTime(b *testing.B) (busy, all float64) {
	b.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Skip("needs /proc: ", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:9] { // proc_stat(5): user nice system idle iowait irq softirq steal
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			b.Fatal(err)
		}
		if all += ticks; i != 3 && i != 4 {
			busy += ticks
		}
	}
	return busy, all
}

// processorTime returns the time that the agent has used, in user and system mode.
func (n *node) processorTime() time.Duration {
	n.fleet.t.Helper()
	const perSecond = 100 // USER_HZ, the same on every Linux that Go runs on
	stat := n.proc("stat")
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	var user, system time.Duration
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		n.fleet.t.Fatal(err)
	}
	return (user + system) * time.Second / perSecond
}

// memoryMiB returns a line of the kernel's summary of the agent's memory, in MiB.
func (n *node) memoryMiB(what string) float64 {
	n.fleet.t.Helper()
	for line := range strings.Lines(n.proc("smaps_rollup")) {
		if size, ok := strings.CutPrefix(line, what+":"); ok {
			var kib float64
			if _, err := fmt.Sscan(size, &kib); err != nil {
				n.fleet.t.Fatal(err)
			}
			return kib / 1024
		}
	}
	n.fleet.t.Fatal("the kernel says nothing of " + what)
	return 0
}

func (n *node) proc(file string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", n.cmd.Process.Pid, file))
	if err != nil {
		n.fleet.t.Skip("needs /proc: ", err)
	}
	return string(text)
}
