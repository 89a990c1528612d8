package agent

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// notifier tells the service manager how the agent is, where there is one.
type notifier struct {
	interval time.Duration
	next     time.Time
}

// ready says that the agent serves. The watchdog is fed three times in its period, by the loop itself.
func (n *notifier) ready(status string) {
	if period, err := daemon.SdWatchdogEnabled(false); err == nil && period > 0 {
		n.interval = period / 3
		n.next = time.Now().Add(n.interval)
	}
	n.notify(daemon.SdNotifyReady + "\nSTATUS=" + status)
}

// stopping says that the agent leaves, and for how long it may take, whatever the service manager allows others.
func (n *notifier) stopping(within time.Duration) {
	n.notify(fmt.Sprintf("%s\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, within.Microseconds()))
}

// alive feeds the watchdog when it is due.
func (n *notifier) alive(status func() string) {
	if n.interval == 0 || time.Now().Before(n.next) {
		return
	}
	n.next = time.Now().Add(n.interval)
	n.notify(daemon.SdNotifyWatchdog + "\nSTATUS=" + status())
}

// untilNext is when the watchdog wants to be fed; very long if there is none.
func (n *notifier) untilNext() time.Duration {
	if n.interval == 0 {
		return time.Hour
	}
	return time.Until(n.next)
}

// notify cannot fail in a way that matters: without a service manager there is nobody to tell.
func (*notifier) notify(state string) { _, _ = daemon.SdNotify(false, state) }
