package hook

import (
	"slices"
	"strings"
)

// ownPrefix marks the variables of wanderd, in the environment of the agent (its settings) and of a hook (the grant).
const ownPrefix = "WANDERD_"

// Environ returns the environment of a hook: base without what is meant for the agent alone, and grant, which describes
// the token under which the hook runs ("WANDERD_SEQ=7").
//
// What systemd tells a service (where to notify, sockets, credentials, the watchdog) is meant only for the main
// process. The hook inherits none of the agent's own WANDERD_ variables: one of them could name the file of the fleet
// secret.
func Environ(base []string, grant ...string) []string {
	return replace(base, grant, func(name string) bool {
		return strings.HasPrefix(name, ownPrefix) || slices.Contains([]string{
			"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
			"CREDENTIALS_DIRECTORY",
		}, name)
	})
}

// under returns the environment of a command: the caller's, with the variables of a grant replaced.
func under(base, grant []string) []string {
	return replace(base, grant, func(name string) bool {
		return slices.Contains([]string{
			"WANDERD_HELD", "WANDERD_GATE", "WANDERD_SEQ", "WANDERD_SLOT", "WANDERD_TOKEN", "WANDERD_MEMBER",
			"WANDERD_NAME", "WANDERD_MEMBERS",
			"WANDERD_DEADLINE",
		}, name)
	})
}

// replace returns base without the variables for which goes is true, and with grant appended.
func replace(base, grant []string, goes func(name string) bool) []string {
	env := slices.DeleteFunc(slices.Clone(base), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return goes(name)
	})
	return append(env, grant...)
}
