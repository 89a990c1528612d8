package agent

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"time"
)

// A hook may end with a reboot of its host. Then the shutdown stops the agent, and the agent its hook. If that counted
// as any run that a stop has cut short, the hook would be due again as soon as the host is up, and reboot it for ever.
// So a run that a stop has cut short counts as not having happened only within one boot of the host. Containers share
// the boot of their host, and a soft reboot is none: there, and for the log, the service manager is asked.

// askPatience bounds the question to the service manager.
const askPatience = time.Second

// hostStops reports whether systemd is about to shut this host, or this container, down.
func hostStops() bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	ask := exec.CommandContext(ctx, "systemctl", "is-system-running")
	ask.WaitDelay = askPatience
	said, _ := ask.Output() // its exit status is 1 for most answers
	return string(bytes.TrimSpace(said)) == "stopping"
}
