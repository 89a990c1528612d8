package clock

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sinceBootAsleep returns how long the host has been suspended since it booted: boot time includes suspensions,
// monotonic time does not.
func sinceBootAsleep() time.Duration {
	return clockTime(unix.CLOCK_BOOTTIME) - clockTime(unix.CLOCK_MONOTONIC)
}

// thisBoot returns a function that asks the kernel. If a sandbox forbids adjtimex, the wall clock counts as not
// synchronised.
func thisBoot() func() Boot {
	var id string
	if text, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		id = strings.TrimSpace(string(text))
	}
	return func() Boot {
		var timex unix.Timex
		state, err := unix.Adjtimex(&timex)
		synced := err == nil && state != unix.TIME_ERROR && timex.Status&unix.STA_UNSYNC == 0
		return Boot{ID: id, Up: clockTime(unix.CLOCK_BOOTTIME), Synced: synced}
	}
}

// clockTime reads a clock that every Linux has.
func clockTime(id int32) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(id, &t)
	return time.Duration(t.Nano())
}
