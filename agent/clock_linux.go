package agent

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBootAsleep is how long the host has been suspended since it booted: boot time goes on then, monotonic time does not.
func sinceBootAsleep() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
