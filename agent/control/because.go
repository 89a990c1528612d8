package control

// Because is the reason why a gate does not run on this host now.
type Because string

const (
	// BecauseFault: a fault in the agent's program has closed the gate on this host.
	BecauseFault Because = "fault"
	// BecauseLeaving: the agent is stopping, or the gate is being removed.
	BecauseLeaving Because = "leaving"
	// BecausePaused: an operator or the brake has paused the gate.
	BecausePaused Because = "paused"
	// BecauseNoMajority: a strict gate has no majority of its roster, or does not know it yet.
	BecauseNoMajority Because = "no_majority"
	// BecauseUnwanted: the gate runs on demand, and no caller waits.
	BecauseUnwanted Because = "unwanted"
	// BecauseWindow: no window is open.
	BecauseWindow Because = "window"
	// BecauseNotDue: the last run was less than min_interval ago, or it failed and will be repeated later.
	BecauseNotDue Because = "not_due"
	// BecauseNotReady: the host's ready check has not answered that it needs a run.
	BecauseNotReady Because = "not_ready"
	// BecauseDown: too many members are down.
	BecauseDown Because = "down"
	// BecauseStage: a member of an earlier stage is due.
	BecauseStage Because = "stage"
	// BecauseOthers: a run holds other gates, too, and has not been granted all of them, or was put off because of it.
	BecauseOthers Because = "others"
	// BecauseDisk: the start of a run cannot be recorded.
	BecauseDisk Because = "disk"
	// BecauseOtherSecret: no other member is seen, but a host with another secret is.
	BecauseOtherSecret Because = "other_secret"
	// BecauseAlone: no other member is seen, and this member waits for one.
	BecauseAlone Because = "alone"
	// BecauseUnreachable: the gate is due, and no other member answers datagrams of this host.
	BecauseUnreachable Because = "unreachable"
	// BecauseWaiting: the gate is due, and the token is elsewhere.
	BecauseWaiting Because = "waiting"
)

// Awaits reports whether, as far as this host knows, the gate runs here as soon as the token comes.
func (g *Gate) Awaits() bool { return !g.Running && (g.Because == "" || g.Because == BecauseWaiting) }
