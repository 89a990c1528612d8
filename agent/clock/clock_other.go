//go:build !linux

package clock

import "time"

// sinceBootAsleep knows nothing where the system does not tell boot time from monotonic time.
func sinceBootAsleep() time.Duration { return 0 }

// thisBoot has no name for it, so that only the wall clock says how long ago something was before a restart.
func thisBoot() func() Boot { return func() Boot { return Boot{} } }
