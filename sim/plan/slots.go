package plan

import (
	"fmt"

	"github.com/wanderd/wanderd/policy/soft"
)

// slotsOf is how many of so many members may run at once: a number, or a share of them.
func slotsOf(members, slots, share int) int {
	if share > 0 {
		return soft.ShareOf(members, share)
	}
	return max(slots, 1)
}

// slotsLine is the setting as a line of a configuration file; empty for one token.
func slotsLine(line func(key string, value any, comment string) string, slots, share int) string {
	const meaning = "how many members may run at once"
	switch {
	case share > 0:
		return line("slots", fmt.Sprintf("%d%%", share), fmt.Sprintf("%s: now %d", meaning, slots))
	case slots > 1:
		return line("slots", slots, meaning)
	}
	return ""
}

// slotsFlag is the setting as a flag; empty for one token.
func slotsFlag(slots, share int) string {
	switch {
	case share > 0:
		return fmt.Sprintf(" --slots %d%%", share)
	case slots > 1:
		return fmt.Sprintf(" --slots %d", slots)
	}
	return ""
}
