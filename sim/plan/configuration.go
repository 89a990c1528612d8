package plan

import (
	"fmt"
	"strings"
)

// toml returns the constants as part of a configuration file. The default of max_interval is written as a comment, so
// that it continues to follow the number of members.
func toml(k *Constants) string {
	line := func(key string, value any, comment string) string {
		return fmt.Sprintf("%-28s # %s\n", fmt.Sprintf("%s = %#v", key, value), comment)
	}
	text := line("walk", k.Walk.String(), "where the token goes next") +
		line("skip", written(k.Skip), "how long the token rests where it is not needed") +
		line("op", written(k.Op), "how long one run takes") +
		line("min_interval", written(k.MinInterval), "the least time between two runs of a member")
	maxInterval := line("max_interval", written(k.MaxInterval),
		"how long a member waits in vain before it makes a new token")
	if k.DefaultMaxInterval {
		maxInterval = line("# max_interval", written(k.MaxInterval),
			"is the default; left out, it follows the number of members")
	}
	text += maxInterval + line("backups", k.Backups, "how many members guard the token") +
		slotsLine(line, k.Slots, k.SlotsShare)
	if k.Keep > 0 {
		text += line("keep", written(k.Keep), "how long the others wait for a host that reboots")
	}
	if k.Soak > 0 {
		text += line("soak", written(k.Soak), "how long a host is looked after before the next one starts")
	}
	if k.MaxDown > 0 {
		text += line("max_down", k.MaxDown, "how many may be down when one starts")
	}
	if k.PerZone > 0 {
		text += line("per_zone", k.PerZone, "how many of one zone may run at once; each host has its zone")
	}
	if len(k.Windows) > 0 {
		text += line("window", strings.Join(texts(k.Windows), "; "), "when members may run")
	}
	return text +
		line("hook_timeout", written(k.HookTimeout), "how long one run may take")
}

func command(k *Constants) string {
	text := fmt.Sprintf("wanderd --walk %s --skip %s --op %s --min-interval %s", k.Walk, written(k.Skip), written(k.Op),
		written(k.MinInterval))
	if !k.DefaultMaxInterval {
		text += " --max-interval " + written(k.MaxInterval)
	}
	text += fmt.Sprintf(" --backups %d", k.Backups) + slotsFlag(k.Slots, k.SlotsShare)
	if k.Keep > 0 {
		text += " --keep " + written(k.Keep)
	}
	if k.Soak > 0 {
		text += " --soak " + written(k.Soak)
	}
	if k.MaxDown > 0 {
		text += fmt.Sprintf(" --max-down %d", k.MaxDown)
	}
	if k.PerZone > 0 {
		text += fmt.Sprintf(" --per-zone %d", k.PerZone)
	}
	var windows strings.Builder
	for i := range k.Windows {
		fmt.Fprintf(&windows, " --window %q", k.Windows[i].String())
	}
	return text + windows.String() + " --hook-timeout " + written(k.HookTimeout) + " --hook ./sync.sh"
}
