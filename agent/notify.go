package agent

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifier reports the agent's state to the service manager, if there is one.
type notifier struct {
	interval time.Duration
	next     time.Time
}

// ready reports that the agent serves. From then on the loop itself feeds the watchdog, three times in its period.
func (n *notifier) ready(status string) {
	if period, err := daemon.SdWatchdogEnabled(false); err == nil && period > 0 {
		n.interval = period / 3
		n.next = time.Now().Add(n.interval)
	}
	n.notify(daemon.SdNotifyReady + "\nSTATUS=" + status)
}

// stopping reports that the agent leaves, and extends the service manager's timeout to within.
func (n *notifier) stopping(within time.Duration) {
	n.notify(fmt.Sprintf("%s\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, within.Microseconds()))
}

func (n *notifier) alive(status func() string) {
	if n.interval == 0 || time.Now().Before(n.next) {
		return
	}
	n.next = time.Now().Add(n.interval)
	n.notify(daemon.SdNotifyWatchdog + "\nSTATUS=" + status())
}

// untilNext is the time until the watchdog must be fed; an hour if there is none.
func (n *notifier) untilNext() time.Duration {
	if n.interval == 0 {
		return time.Hour
	}
	return time.Until(n.next)
}

// notify ignores errors: without a service manager nobody reads the state.
func (*notifier) notify(state string) { _, _ = daemon.SdNotify(false, state) }
