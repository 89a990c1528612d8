package agent

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"time"
)

// A hook may end with a reboot of its host. Then the shutdown stops the agent, and the agent stops its hook. If that
// run counted like any other run that a stop has cut short, the hook would be due again as soon as the host is up, and
// would reboot it for ever. So a run that a stop has cut short counts as not having happened only within one boot of
// the host. Containers share the boot of their host, and a soft reboot does not start a new boot: for these cases, and
// for the log, the agent asks the service manager.

// askPatience bounds the time for the answer of the service manager.
const askPatience = time.Second

// hostStops reports whether systemd is about to shut this host, or this container, down.
func hostStops() bool { return hostSays("stopping") }

// hostStarts reports whether systemd is still starting this host.
func hostStarts() bool { return hostSays("initializing", "starting") }

// hostSays reports whether systemd says one of some words about this host.
func hostSays(words ...string) bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	ask := exec.CommandContext(ctx, "systemctl", "is-system-running")
	ask.WaitDelay = askPatience
	said, _ := ask.Output() // The exit status is 1 for most answers.
	return slices.Contains(words, string(bytes.TrimSpace(said)))
}
