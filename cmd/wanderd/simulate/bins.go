package simulate

import "time"

// bin returns the width of the bins for intervals: the greatest of 1, 2 or 5 times a power of ten seconds that is not above
// min_interval. For the paper's 600 s it is 500 s, as in its table 4.
func bin(minInterval time.Duration) time.Duration {
	width := time.Microsecond
	for power := time.Microsecond; power <= minInterval; power *= 10 {
		for _, m := range []time.Duration{1, 2, 5} {
			if m*power <= minInterval {
				width = m * power
			}
		}
	}
	return width
}
