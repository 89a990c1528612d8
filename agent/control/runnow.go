package control

// RunNow asks for a run of the gate's hook on this host, regardless of min_interval.
type RunNow struct {
	// Gate is the gate's name; empty if the agent has only one. If Wait is true, the answer comes when the run has
	// ended.
	Gate string `json:"gate,omitempty"`
	Wait bool   `json:"wait,omitempty"`
	// OutsideWindow lets the run begin although no window of the gate is open.
	OutsideWindow bool `json:"outside_window,omitempty"`
	// PID is the caller's process number, User the user who asks. The server learns both from the kernel.
	PID  int    `json:"-"`
	User string `json:"-"`
}

// RunEnd is how a run has ended.
type RunEnd struct {
	Ended bool `json:"ended,omitempty"`
	// Unready is true if there was no run, because this host has not answered that it needs one. Error is the answer of
	// its ready check, and Exit the status of that.
	Unready bool `json:"unready,omitempty"`
	// Exit is the status as a shell has it, Error what went wrong.
	Exit  int      `json:"exit,omitempty"`
	Error string   `json:"error,omitempty"`
	Took  Duration `json:"took,omitzero"`
}
