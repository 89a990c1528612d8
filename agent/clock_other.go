//go:build !linux

package agent

import "time"

// sinceBootAsleep knows nothing where the system does not tell boot time from monotonic time.
func sinceBootAsleep() time.Duration { return 0 }
