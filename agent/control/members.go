package control

import "time"

// Members answers GET /v1/members.
type Members struct {
	Members []Member `json:"members"`
	// Forgotten are members that are gone for good.
	Forgotten []ForgottenMember `json:"forgotten,omitempty"`
}

// Member is one agent as this one sees it.
type Member struct {
	Name    string `json:"name"`
	Member  string `json:"member"`
	Address string `json:"address"`
	// State is "alive", "suspect", "left", "failed" or "untrusted".
	State string `json:"state"`
	// Since is when the state or the address last changed, as far as this agent knows; absent for itself. SilentSince
	// is since when the member has not answered datagrams of this one; absent if it does.
	Since       time.Time `json:"since,omitzero"`
	SilentSince time.Time `json:"silent_since,omitzero"`
	// KnownHosts is the line for its key in a file of known hosts.
	KnownHosts string `json:"known_hosts,omitempty"`

	Self  bool     `json:"self"`
	Gates []string `json:"gates"`
}

// Forget asks to forget the members of a name that are gone for good.
type Forget struct {
	Name string `json:"name"`
	// User is the user who asks. The server learns it from the kernel.
	User string `json:"-"`
}

// Forgot lists the members that are forgotten now. Already is true if they were before.
type Forgot struct {
	Members []string `json:"members"`
	Already bool     `json:"already,omitempty"`
}

// ForgottenMember is a member that is gone for good, as somebody has said: it is in no list, and does not count as
// down.
type ForgottenMember struct {
	Name   string    `json:"name"`
	Member string    `json:"member"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
}
