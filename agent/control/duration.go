package control

import (
	"fmt"
	"time"
)

// Duration is a duration whose text is Go's: "1m30s".
type Duration time.Duration

// String returns the duration as text.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("duration %q: want a number with a unit, as in 1m30s", text)
	}
	*d = Duration(parsed)
	return nil
}
