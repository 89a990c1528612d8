package hook

import (
	"sync"
	"time"
)

// The guard ends an operation by the end of its grant, without a message from the agent. But a guard that was itself
// stopped (SIGSTOP) ends nothing. While the agent lives it knows the processes and the end, too: halfway between the
// guard's SIGKILL and the end, it kills what is left, and the guard.

// agentMargin is how long before the end of a grant the agent kills what the guard has not killed.
const agentMargin = KillMargin / 2

// deadline is the end of a grant, as the agent knows it.
type deadline struct {
	mu    sync.Mutex
	until time.Duration
	alarm bootAlarm
	over  bool
}

// set moves the end, unless until is zero or the operation is over.
func (d *deadline) set(until time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if until == 0 || d.over {
		return
	}
	d.until = until
	d.alarm.set(until - agentMargin)
}

// begin sets the end, unless it has been moved already.
func (d *deadline) begin(until time.Duration) {
	d.mu.Lock()
	moved := d.until != 0
	d.mu.Unlock()
	if !moved {
		d.set(until)
	}
}

// left returns how long it is until the agent has to kill.
func (d *deadline) left() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.until - agentMargin - sinceBoot()
}

// enforce kills when the end has come, again and again, until the operation is over. If the end was moved meanwhile, it
// waits for the new end.
func (d *deadline) enforce(over <-chan struct{}, kill func()) {
	d.mu.Lock()
	rings := d.alarm.rings
	d.mu.Unlock()
	if rings == nil { // the grant has no end
		return
	}
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.over = true
		d.alarm.remove()
	}()
	for {
		select {
		case <-over:
			return
		case <-rings:
		}
		for d.left() <= 0 {
			kill()
			select {
			case <-over:
				return
			case <-time.After(orphanLookTime):
			}
		}
	}
}
