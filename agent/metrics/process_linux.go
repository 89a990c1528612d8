package metrics

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process writes what the kernel reports of this process (proc(5)). What the kernel does not report is left out.
func (p *page) process() {
	usage := unix.Rusage{}
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		p.family("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", counter).
			sample("", float64(usage.Utime.Nano()+usage.Stime.Nano())/1e9)
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		// One of the descriptors is that of the directory itself.
		p.family("process_open_fds", "Number of open file descriptors.", gauge).sample("", float64(len(open)-1))
	}
	limits := unix.Rlimit{}
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limits) == nil {
		p.family("process_max_fds", "Maximum number of open file descriptors.", gauge).sample("", float64(limits.Cur))
	}
	if unix.Getrlimit(unix.RLIMIT_AS, &limits) == nil {
		p.family("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", gauge).
			sample("", float64(limits.Cur))
	}
	if threads, started, virtual, resident, ok := ownStat(); ok {
		p.family("go_threads", "Number of OS threads created.", gauge).sample("", threads)
		p.family("process_virtual_memory_bytes", "Virtual memory size in bytes.", gauge).sample("", virtual)
		p.family("process_resident_memory_bytes", "Resident memory size in bytes.", gauge).sample("", resident)
		if boot, ok := bootTime(); ok {
			p.family("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", gauge).
				sample("", boot+started)
		}
	}
}

// ownStat reads the number of threads of this process, when it was started, in seconds after the boot of this host, and
// its memory.
func ownStat() (threads, started, virtual, resident float64, ok bool) {
	// clockTicks is how many ticks make a second for all programs on Linux, whatever the kernel's own clock.
	const clockTicks = 100
	text, err := os.ReadFile("/proc/self/stat")
	// The name of the program, in brackets, may have spaces and brackets in it. The state behind it is field 3.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const number, start, vsize, rss = 20 - 3, 22 - 3, 23 - 3, 24 - 3
	if err != nil || len(fields) <= rss {
		return 0, 0, 0, 0, false
	}
	var values [4]float64
	for i, at := range []int{number, start, vsize, rss} {
		if values[i], err = strconv.ParseFloat(fields[at], 64); err != nil {
			return 0, 0, 0, 0, false
		}
	}
	return values[0], values[1] / clockTicks, values[2], values[3] * float64(os.Getpagesize()), true
}

// bootTime reads when this host was booted, in seconds since 1970.
func bootTime() (float64, bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return seconds, err == nil
		}
	}
	return 0, false
}
