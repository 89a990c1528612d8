//go:build !linux

package clock

import "time"

// sinceBootAsleep returns 0 where the system does not distinguish boot time from monotonic time.
func sinceBootAsleep() time.Duration { return 0 }

// thisBoot has no identifier of a boot here. So after a restart only the wall clock tells how long ago something was.
func thisBoot() func() Boot { return func() Boot { return Boot{} } }
