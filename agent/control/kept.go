package control

import "time"

// Kept is a grant that outlives its host: of this host, or one that this host knows of.
type Kept struct {
	Slot int `json:"slot,omitempty"`
	// Member and Name are the host's; Self is true for this host.
	Member string `json:"member"`
	Name   string `json:"name"`
	Self   bool   `json:"self,omitempty"`
	// Until is how long the others wait for the host at most, unless it is heard again.
	Until time.Time `json:"until,omitzero"`
	// AwaySince is since when this host does not see the other one; BackSince, since when it sees it again. Both are
	// absent if it was never away.
	AwaySince time.Time `json:"away_since,omitzero"`
	BackSince time.Time `json:"back_since,omitzero"`
	// State is what this host's own grant waits for; empty if that is the end of its run.
	State string `json:"state,omitempty"`
	// Beyond is until when the run of this host has asked to keep its grant beyond its end, and Reason why; absent if
	// it has not asked.
	Beyond time.Time `json:"beyond,omitzero"`
	Reason string    `json:"reason,omitempty"`
}

// Keep is what a running operation asks for: that its grant is kept beyond its end.
type Keep struct {
	Gate string `json:"gate"`
	// Token and Seq are those of its grant, as the operation was told them.
	Token string `json:"token"`
	Seq   uint64 `json:"seq"`
	// For is how long its host may take, from now on, until it goes down.
	For    Duration `json:"for"`
	Reason string   `json:"reason,omitempty"`
}

// IsAway reports whether another host is away under its grant.
func (k *Kept) IsAway() bool { return !k.Self && !k.AwaySince.IsZero() && k.BackSince.IsZero() }
