// Package control is how an operator's command talks to a running agent: JSON over HTTP on a unix socket.
//
// It holds the documents, the server and the client. The agent supplies the documents; nothing here decides anything. There
// is no authentication beyond that of the file system: the socket belongs to the agent's user and has mode 0600.
//
//	GET /v1/status    a [Status]
//	GET /v1/members   a [Members]
//
// Everything else is answered by {"error": "…"} and a status of 400 or above. Documents gain fields within a version, and
// lose none.
package control

import "time"

// Status answers GET /v1/status.
type Status struct {
	Version string    `json:"version"`
	Name    string    `json:"name"`
	Member  string    `json:"member"`
	Address string    `json:"address"`
	Started time.Time `json:"started"`
	Sealed  bool      `json:"sealed"`
	Members int       `json:"members"`
	Gates   []Gate    `json:"gates"`
	// Dropped counts datagrams by the reason they were dropped for.
	Dropped map[string]uint64 `json:"dropped"`
	// Gossip counts what membership found worth counting, by kind; see membership.Stats.
	Gossip map[string]uint64 `json:"gossip,omitempty"`
	// Warnings are signs of a mistake that an operator can mend, the latest first.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Warning is a sign of a mistake, with what to do about it.
type Warning struct {
	Text string `json:"text"`
	// Count is how often it was seen since the agent started; Last is when that was last, and From where it came from, as far as
	// that is known.
	Count uint64    `json:"count,omitempty"`
	Last  time.Time `json:"last,omitzero"`
	From  string    `json:"from,omitempty"`
}

// Gate is one gate of a status.
type Gate struct {
	Name    string `json:"name"`
	Policy  string `json:"policy"`
	Walk    string `json:"walk"`
	State   string `json:"state"`
	Members int    `json:"members"`
	// Whereabouts is where the token is; where there are several, the one that this member has most to do with.
	Whereabouts
	Running bool `json:"running"`
	// SilentSince is when a token was last here, or known to be elsewhere, as far as this member knows; absent while it holds one.
	SilentSince time.Time `json:"silent_since,omitzero"`
	// NotRunning says in a clause why the hook is not running now; empty while it is.
	NotRunning string    `json:"not_running,omitempty"`
	LastRun    time.Time `json:"last_run,omitzero"`
	LastExit   string    `json:"last_exit,omitempty"`
	LastTook   Duration  `json:"last_took,omitzero"`
	NextRun    time.Time `json:"next_run,omitzero"`
	Runs       uint64    `json:"runs"`
	Failures   uint64    `json:"failures"`
	// LastSuccess is when the hook last ended well, also if that was in an earlier life of the agent.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// SavingSince is when the save of the gate's state began that is under way, SaveError why the last one failed: without a record of
	// its start the hook does not run.
	SavingSince time.Time `json:"saving_since,omitzero"`
	SaveError   string    `json:"save_error,omitempty"`

	Skip Duration `json:"skip"`
	// Op is in force; OpSource is "configured", "measured" or, before anybody has run, "assumed".
	Op          Duration `json:"op"`
	OpSource    string   `json:"op_source"`
	MinInterval Duration `json:"min_interval"`
	MaxInterval Duration `json:"max_interval"`
	// MaxIntervalRule says why max_interval is what it is.
	MaxIntervalRule string `json:"max_interval_rule"`
	// Lap is what a lap of the token takes, as this member sees it; absent while it does not know. TooShort says what to do where op or
	// max_interval is set too short for that.
	Lap             Duration  `json:"lap,omitzero"`
	TooShort        string    `json:"too_short,omitempty"`
	RegenerateAfter Duration  `json:"regenerate_after"`
	RegenerateAt    time.Time `json:"regenerate_at,omitzero"`
	// Load is op × members / (min_interval × slots).
	Load float64 `json:"load"`
	// Slots is how many tokens the gate has. Tokens has each of them, in the order of their slots, where there are several.
	Slots  int    `json:"slots"`
	Tokens []Slot `json:"tokens,omitempty"`
	// Backups is how many guardians a token is to have. OnLost is "finish" or "stop": what becomes of a run whose token
	// another member has taken up meanwhile.
	Backups int    `json:"backups"`
	OnLost  string `json:"on_lost"`
	// Notes counts what happened since the agent started, by note.
	Notes map[string]uint64 `json:"notes"`
}

// Whereabouts is where a token is, as far as this member knows.
type Whereabouts struct {
	Holding bool `json:"holding"`
	// Holder is the last known holder: this member while it holds the token, else the one it guards it for, or passed it to.
	Holder     string `json:"holder,omitempty"`
	HolderName string `json:"holder_name,omitempty"`
	// HolderSince is not known where the token was passed on since this member did.
	HolderSince time.Time `json:"holder_since,omitzero"`
	// Guardians keep a copy of the token while this member holds it; the first takes it up if this member dies.
	Guardians []Guardian `json:"guardians,omitempty"`
	// Guards says that this member keeps a copy of the token while another one holds it.
	Guards bool   `json:"guards,omitempty"`
	Token  string `json:"token,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`
}

// Slot is one token of a gate that has several, and what this member does with it.
type Slot struct {
	// Slot counts from 0.
	Slot  int    `json:"slot"`
	State string `json:"state"`
	Whereabouts
}

// Guardian is a member that guards a token.
type Guardian struct {
	Member string `json:"member"`
	Name   string `json:"name"`
}

// Members answers GET /v1/members.
type Members struct {
	Members []Member `json:"members"`
}

// Member is one agent as this one sees it.
type Member struct {
	Name    string `json:"name"`
	Member  string `json:"member"`
	Address string `json:"address"`
	// State is "alive", "suspect", "left" or "failed".
	State string   `json:"state"`
	Self  bool     `json:"self"`
	Gates []string `json:"gates"`
}
