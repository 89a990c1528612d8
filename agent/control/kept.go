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
}

// IsAway reports whether another host is away under its grant.
func (k *Kept) IsAway() bool { return !k.Self && !k.AwaySince.IsZero() && k.BackSince.IsZero() }
