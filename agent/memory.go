package agent

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/membership"
)

// memory holds the members that were known before the restart, and keeps the list on the disk up to date. It writes
// beside the loop, and not at every change: a slightly old list is enough to find the fleet.
type memory struct {
	// fleet are the remembered members. ever is true if this agent has ever seen another member.
	fleet []membership.Remembered
	ever  bool
	// lost is true if the list on the disk is gone.
	lost atomic.Bool
	// changed signals that the list must be written; its capacity is one.
	changed chan struct{}
}

const (
	// rememberAfter is how long to wait for further changes before the list is written, rememberEvery the least time
	// between two writes.
	rememberAfter = time.Second
	rememberEvery = 30 * time.Second
)

// recall reads the remembered members. Without them the agent starts as if for the first time.
func (a *Agent) recall() {
	a.memory.changed = make(chan struct{}, 1)
	fleet, ever, err := a.state.LoadMembers()
	if err != nil {
		a.log.Warn().Err(err).Msg("starting without a memory of the fleet")
	}
	a.memory.fleet, a.memory.ever = fleet, ever
}

// waitsAlone reports whether a member that has never been in a fleet waits for one.
func (a *Agent) waitsAlone() bool {
	return a.cfg.Alone == AloneWait || a.cfg.Alone == AloneAuto && len(a.cfg.Join) > 0
}

// rejoins reports whether this agent was in a fleet and waits for it. An agent that has forgotten all others is a fleet
// of one again, unless it has addresses to join.
func (a *Agent) rejoins() bool {
	return a.memory.ever && a.cfg.Alone != AloneRun && (len(a.memory.fleet) > 0 || a.waitsAlone())
}

// sitsAlone reports whether this agent sees no other member, and waits for one.
func (a *Agent) sitsAlone() bool { return len(a.view.Members) <= 1 && (a.waitsAlone() || a.rejoins()) }

// keepMemory writes the list after each change until ctx is done.
func (a *Agent) keepMemory(ctx context.Context) {
	written, failed := a.memory.fleet, false
	for last := (time.Time{}); ; last = time.Now() {
		select {
		case <-a.memory.changed:
		case <-ctx.Done():
			return
		}
		if !beside.Sleep(ctx, max(rememberAfter, time.Until(last.Add(rememberEvery)))) {
			return
		}
		list := a.members.Remembered()
		if a.memory.lost.Swap(false) {
			written = nil
		}
		if slices.Equal(list, written) {
			continue
		}
		if err := a.state.SaveMembers(list); err != nil {
			if !failed {
				a.log.Warn().Err(err).Msg("after a restart, this agent finds its fleet by --join only")
			}
			failed = true
			beside.Signal(a.memory.changed)
			continue
		}
		written, failed = list, false
	}
}
