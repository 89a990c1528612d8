//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// perSecond is USER_HZ, which is the same on every Linux on which Go runs.
const perSecond = 100

// figures are what the agents and the machine have used so far, and how much the agents have logged. Processor times
// are in seconds.
type figures struct {
	at      time.Time
	cpu     []float64
	memory  float64
	lines   int
	revived int
	// machine is the time of all programs. inner is the time of the agents and of this program.
	machine, inner float64
}

// figures reads the figures. Interrupts are left out: they include the kernel's work for the attack's own datagrams.
func (f *fleet) figures() figures {
	all := figures{at: time.Now()}
	stat, _ := os.ReadFile("/proc/stat")
	var user, nice, system float64
	if _, err := fmt.Sscanf(string(stat), "cpu %f %f %f", &user, &nice, &system); err == nil {
		all.machine = (user + nice + system) / perSecond
	}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			all.inner += time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
		}
	}
	for _, p := range f.agents[:size] {
		pid := strconv.Itoa(p.PID())
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		var ticks float64
		if fields := strings.Fields(rest); len(fields) > 12 {
			for _, field := range fields[11:13] {
				n, _ := strconv.ParseFloat(field, 64)
				ticks += n
			}
		}
		all.cpu = append(all.cpu, ticks/perSecond)
		all.inner += ticks / perSecond
		status, _ := os.ReadFile("/proc/" + pid + "/status")
		if _, peak, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kib float64
			_, _ = fmt.Sscan(peak, &kib)
			all.memory = max(all.memory, kib*1024)
		}
		log, _ := os.ReadFile(p.Log)
		all.lines += bytes.Count(log, []byte("\n"))
		all.revived += bytes.Count(log, []byte(`"note":"revived"`))
	}
	return all
}

// most returns the CPU time of the agent that used most of it since before.
func (f *figures) most(before *figures) float64 {
	most := 0.0
	for i := range before.cpu {
		most = max(most, f.cpu[i]-before.cpu[i])
	}
	return most
}

// others returns the share of all cores that other programs have used since before.
func (f *figures) others(before *figures) float64 {
	cores := f.at.Sub(before.at).Seconds() * float64(runtime.NumCPU())
	return max(0, (f.machine-before.machine)-(f.inner-before.inner)) / cores
}
