// Package control connects an operator's command with a running agent: JSON over HTTP on a unix socket.
//
// It contains the documents, the server and the client. The agent supplies the documents; this package decides nothing.
// The agent's user, root and, if there is one, the socket's group may ask. The file system enforces that, and so do the
// credentials of each connection, which the kernel reports.
//
//	GET /v1/status    a [Status]
//	GET /v1/members   a [Members]
//	POST /v1/exec     an [ExecRequest]; the connection then belongs to the caller and its run
//	GET /v1/history   a [History]
//	GET /v1/now       a [Now]
//	GET /v1/fleet     a [Fleet]
//	GET /v1/fleet/history?gate=G&failed=true&since=T   a [FleetHistory]; see [Which]
//	POST /v1/drain    {}; the agent stops when what runs has ended
//	POST /v1/reload   a [Reloaded]; the agent reads its configuration again
//	POST /v1/order    a [Directive]; {}
//	POST /v1/renew    a [Renew]; a [Renewed]
//	POST /v1/run      a [RunNow]; a [RunEnd], when the run has ended if it is to wait
//	GET /metrics      the metrics, as Prometheus reads them
//
// The answer to all other requests is {"error": "…"} with a status of 400 or above. Within a version, documents gain
// fields and lose none.
package control

import (
	"time"

	"github.com/wanderd/wanderd/agent/history"
)

// Status answers GET /v1/status.
type Status struct {
	Version string    `json:"version"`
	Name    string    `json:"name"`
	Member  string    `json:"member"`
	Address string    `json:"address"`
	Started time.Time `json:"started"`
	Sealed  bool      `json:"sealed"`
	// TwoSecrets is true while this host has two secrets, because the fleet changes its secret. SealedBySecond names
	// the members that seal with this host's second one.
	TwoSecrets     bool     `json:"two_secrets,omitempty"`
	SealedBySecond []string `json:"sealed_by_second,omitempty"`
	Members        int      `json:"members"`
	Gates          []Gate   `json:"gates"`
	// Forgotten are members that are gone for good, as somebody has said. The answer to a fleet's question has none.
	Forgotten []ForgottenMember `json:"forgotten,omitempty"`
	// Dropped counts dropped datagrams by reason.
	Dropped map[string]uint64 `json:"dropped"`
	// Gossip has the counters of membership.Stats that are not 0.
	Gossip map[string]uint64 `json:"gossip,omitempty"`
	// Events has the counts of events by their receiver.
	Events map[string]Events `json:"events,omitempty"`
	// Warnings are signs of mistakes that an operator can correct, latest first.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Events are how many events a receiver has taken since the agent started, how many it has refused or were too old
// (failed), how many had no room (dropped), and how many wait.
type Events struct {
	Delivered uint64 `json:"delivered"`
	Failed    uint64 `json:"failed"`
	Dropped   uint64 `json:"dropped"`
	Waiting   int    `json:"waiting"`
}

// Warning is a sign of a mistake, with the remedy.
type Warning struct {
	// Gate is the gate that the warning concerns; empty if it does not concern one gate.
	Gate string `json:"gate,omitempty"`
	Text string `json:"text"`
	// Count is how often the sign was seen since the agent started, Last is when it was last seen, and From its source
	// if known.
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
	// Whereabouts is where the token is. If there are several tokens, it is about the one that concerns this member
	// most.
	Whereabouts
	Together
	Running bool `json:"running"`
	// Removed is true once the configuration no longer has this gate: it goes when its run has ended.
	Removed bool `json:"removed,omitempty"`
	// SilentSince is when this member last held a token or knew that another member held one; absent while it holds
	// one, and while it need not hear of one: a token that is called is silent at rest.
	SilentSince time.Time `json:"silent_since,omitzero"`
	// NotRunning is the reason why the hook is not running now; empty while it is.
	NotRunning string `json:"not_running,omitempty"`
	// Because is the same reason for programs. If it is [BecauseWaiting], DueSince is since when the gate waits for the
	// token, and LapsWaited for how many laps, if the duration of a lap is known.
	Because    Because   `json:"because,omitempty"`
	DueSince   time.Time `json:"due_since,omitzero"`
	LapsWaited float64   `json:"laps_waited,omitempty"`
	LastRun    time.Time `json:"last_run,omitzero"`
	// LastExit is [ExitOK], [ExitNotNow], or why the last run of the hook has failed. Callers' commands are not among
	// the runs: how they end concerns only the callers.
	LastExit string    `json:"last_exit,omitempty"`
	LastTook Duration  `json:"last_took,omitzero"`
	NextRun  time.Time `json:"next_run,omitzero"`
	Runs     uint64    `json:"runs"`
	Failures uint64    `json:"failures"`
	// Results counts the ended runs of the hook: ok, failed, not_now, timeout, stopped, expired, not_started. Taken and
	// Given count the tokens that came to this member and left it, by the cause.
	Results map[string]uint64 `json:"results"`
	// OnDemand is true if the gate has no hook: then LastRun is the last run of a command. Commands counts the commands
	// of callers that were granted the gate, CommandResults counts how they have ended, and LastCommand is the last
	// that has ended.
	OnDemand       bool              `json:"on_demand,omitempty"`
	Commands       uint64            `json:"commands"`
	CommandResults map[string]uint64 `json:"command_results"`
	LastCommand    *CommandEnd       `json:"last_command,omitempty"`
	Taken          map[string]uint64 `json:"taken"`
	Given          map[string]uint64 `json:"given"`
	// Sent and Received count the messages of the gate's protocol since the agent started, by their kind.
	Sent     map[string]uint64 `json:"sent,omitempty"`
	Received map[string]uint64 `json:"received,omitempty"`
	// LastSuccess is when the hook last succeeded, also before the last restart of the agent.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// SavingSince is when the current save of the gate's state began. SaveError is why the last save failed: the hook
	// does not run unless its start is recorded.
	SavingSince time.Time `json:"saving_since,omitzero"`
	SaveError   string    `json:"save_error,omitempty"`

	Skip Duration `json:"skip"`
	// Op is the value in force; OpSource is "configured", "measured" or, before any member has run, "assumed".
	Op          Duration `json:"op"`
	OpSource    string   `json:"op_source"`
	MinInterval Duration `json:"min_interval"`
	MaxInterval Duration `json:"max_interval"`
	// MaxIntervalRule names the rule that gives max_interval.
	MaxIntervalRule string `json:"max_interval_rule"`
	// Lap is the duration of a lap as measured by this member; absent while unknown. TooShort is a remedy, present if
	// op or max_interval is too short for that lap.
	Lap             Duration  `json:"lap,omitzero"`
	TooShort        string    `json:"too_short,omitempty"`
	RegenerateAfter Duration  `json:"regenerate_after"`
	RegenerateAt    time.Time `json:"regenerate_at,omitzero"`
	// Load is op × members / (min_interval × slots).
	Load float64 `json:"load"`
	// Slots is how many tokens the gate has. If there are several, Tokens lists them in the order of their slots. In a
	// fleet's status a host leaves out tokens that it does not hold, if its part would be too long with them. With
	// SlotsShare it is that percentage of the members, as this host counts them.
	Slots      int    `json:"slots"`
	SlotsShare int    `json:"slots_share,omitempty"`
	Tokens     []Slot `json:"tokens,omitempty"`
	// Backups is how many guardians a token should have. OnLost is what happens to a run whose token another member has
	// revived: "finish" or "stop".
	Backups int    `json:"backups"`
	OnLost  string `json:"on_lost"`
	// AskBeforeRun is true if this member asks all others before it runs.
	AskBeforeRun bool `json:"ask_before_run,omitempty"`
	// Roster is the roster of a strict gate, in the order of the names; absent in other gates.
	Roster []Voter `json:"roster,omitempty"`
	// Windows are the times at which the gate may run; an empty list means always. WindowOpen is true while a window is
	// open, until WindowCloses; otherwise the next one opens at WindowOpens.
	Windows      []string  `json:"windows,omitempty"`
	WindowOpen   bool      `json:"window_open,omitempty"`
	WindowOpens  time.Time `json:"window_opens,omitzero"`
	WindowCloses time.Time `json:"window_closes,omitzero"`
	// OutsideWindow is who has ordered the run that is wanted or goes on, whatever the windows say: meanwhile the gate
	// has none.
	OutsideWindow string `json:"outside_window,omitempty"`
	// Callers are the callers on this host that wait for a run, in their order; the first may be running.
	Callers []Caller `json:"callers,omitempty"`
	// Now has the present holders of the tokens; "wanderd status" asks for them separately, and puts them here.
	Now []Holder `json:"now,omitempty"`
	// Care is set while this host is looked after, after an operation that has succeeded: Running is true then, too.
	Care *Care `json:"care,omitempty"`
	// Stage is where this host stands in the stages of the gate; absent if there are none.
	Stage *Stage `json:"stage,omitempty"`
	// Ready is the state of this host's ready check; absent if it has none.
	Ready *Ready `json:"ready,omitempty"`
	// Paused is the pause of the gate on all hosts, PausedHere that on this host alone; absent if there is none.
	Paused     *Pause `json:"paused,omitempty"`
	PausedHere *Pause `json:"paused_here,omitempty"`
	// Failing are the hosts whose last runs have failed in a row, with their exit statuses, as far as this host knows.
	Failing []Failing `json:"failing,omitempty"`
	// Fault is the last fault in the agent's program that this gate has met. Faults counts them since the agent
	// started: above 0 the gate is closed on this host. Absent and 0 otherwise.
	Fault  string `json:"fault,omitempty"`
	Faults uint64 `json:"faults,omitempty"`
	// Kept are the grants that outlive their hosts.
	Kept []Kept `json:"kept,omitempty"`
	// Facts are what else the gate's protocol reports.
	Facts []Fact `json:"facts,omitempty"`
	// Notes counts events since the agent started, by note.
	Notes map[string]uint64 `json:"notes"`
}

// Directive asks for a pause of a gate, or for its end.
type Directive struct {
	// Gate is the gate's name; empty for all gates of this host.
	Gate string `json:"gate,omitempty"`
	// Elsewhere is true if this host need not have the gate, because other hosts do.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Pause is true to pause the gate, and false to resume it. Here limits the directive to this host.
	Pause bool `json:"pause"`
	Here  bool `json:"here,omitempty"`
	// For is how long the gate is paused; zero means until an operator resumes it.
	For    Duration `json:"for,omitzero"`
	Reason string   `json:"reason,omitempty"`
	// User is the user who asks. The server learns it from the kernel.
	User string `json:"-"`
}

// Renew asks for a new token in place of one that is lost.
type Renew struct {
	// Gate is the gate's name; empty if the agent has only one.
	Gate string `json:"gate,omitempty"`
}

// Renewed lists the tokens that were made.
type Renewed struct {
	Gate string `json:"gate"`
	// Slots are the slots of the new tokens; 0 in a gate with one slot.
	Slots []int `json:"slots"`
}

// CommandEnd is how a caller's command has ended: Exit is [ExitOK], or what went wrong.
type CommandEnd struct {
	Command string    `json:"command"`
	Began   time.Time `json:"began"`
	Took    Duration  `json:"took"`
	Exit    string    `json:"exit"`
}

// Answer is the answer of a host's ready check.
type Answer string

// The answers: the host needs a run; it does not now; or something is wrong with the ready check.
const (
	AnswerYes   Answer = "yes"
	AnswerNo    Answer = "no"
	AnswerError Answer = "error"
)

// How a run has ended, unless it failed.
const (
	// ExitOK: status 0.
	ExitOK = "ok"
	// ExitNotNow: status 75, which is no failure.
	ExitNotNow = "not now (75)"
)

// FailedLast reports whether the last run has failed.
func (g *Gate) FailedLast() bool {
	return g.LastExit != "" && g.LastExit != ExitOK && g.LastExit != ExitNotNow
}

// Ready is the state of a ready check, which asks a host whether it needs a run of the hook.
type Ready struct {
	// Answer is the last answer since the agent started, or since the ready check was changed; absent if there was
	// none. At is when it came, Error what was wrong.
	Answer Answer    `json:"answer,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Error  string    `json:"error,omitempty"`
	// Counts is true while the answer is a yes by which this host runs.
	Counts bool `json:"counts,omitempty"`
	// AskingSince is since when an answer is awaited, Next when the host is next asked.
	AskingSince time.Time `json:"asking_since,omitzero"`
	Next        time.Time `json:"next,omitzero"`
	// Answers counts all answers since the agent started: yes, no, error.
	Answers map[string]uint64 `json:"answers"`
}

// Care is what follows an operation before its grant goes on: the soak, and the program that says whether the host is
// healthy (after).
type Care struct {
	Since time.Time `json:"since"`
	// SoakUntil is absent if the gate has no soak. Answer is the last answer of the program, in words, and At when it
	// came; both are absent if there is none.
	SoakUntil time.Time `json:"soak_until,omitzero"`
	Answer    string    `json:"answer,omitempty"`
	At        time.Time `json:"at,omitzero"`
}

// Stage is where a host stands in the stages of a gate.
type Stage struct {
	// Name is the stage in words, and Of the number of stages. Standing is what this host announces to later stages.
	Name     string `json:"name"`
	Of       int    `json:"of"`
	Standing string `json:"standing"`
	// HeldBy are the first members of earlier stages that hold this host up, and More is the number of the others.
	HeldBy []HeldBy `json:"held_by,omitempty"`
	More   int      `json:"more,omitempty"`
	// Empty has the patterns of earlier stages that match no member that is here.
	Empty []string `json:"empty,omitempty"`
}

// HeldBy is a member that holds up later stages, and why it does.
type HeldBy struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Pause describes the pause of a gate: by whom, when, why, and until when.
type Pause struct {
	// By is a user at a host, or the name of the host.
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	// Until is absent if the pause does not end by itself.
	Until time.Time `json:"until,omitzero"`
}

// Failing is a host whose last run has failed.
type Failing struct {
	Host string `json:"host"`
	Exit int    `json:"exit"`
}

// Caller is a process that asked for a run ("wanderd exec").
type Caller struct {
	// PID is the caller's process number, from the kernel; 0 if it belongs to another namespace.
	PID int `json:"pid"`
	// Command is the name of the command's program, without its arguments.
	Command string `json:"command"`
	// Since is when the caller asked. Running is true while its command runs; RunningSince is when that was granted.
	Since        time.Time `json:"since"`
	Running      bool      `json:"running,omitempty"`
	RunningSince time.Time `json:"running_since,omitzero"`
}

// Absent is the state of a gate whose token is elsewhere, or nowhere.
const Absent = "absent"

// Closed is the state of a gate that no longer takes part, because something is wrong with it: NotRunning is what.
const Closed = "closed"

// Agreeing is the state of a strict gate that takes no part yet, because its roster is not known or not agreed on.
const Agreeing = "gathering"

// Voter is a member of a gate's roster.
type Voter struct {
	Name string `json:"name"`
	// Member is the identity of the key that answers to the name; absent if this host knows of none.
	Member string `json:"member,omitempty"`
	Self   bool   `json:"self,omitempty"`
	Live   bool   `json:"live,omitempty"`
	// Agrees is true if the member has declared the same roster as this host.
	Agrees bool `json:"agrees,omitempty"`
}

// Fact is something that only one protocol reports: the fields that are present say what.
type Fact struct {
	Name       string    `json:"name"`
	Slot       int       `json:"slot,omitempty"`
	At         time.Time `json:"at,omitzero"`
	For        Duration  `json:"for,omitzero"`
	Count      int       `json:"count,omitempty"`
	Member     string    `json:"member,omitempty"`
	MemberName string    `json:"member_name,omitempty"`
	Text       string    `json:"text,omitempty"`
}

// Whereabouts is this member's knowledge of where a token is.
type Whereabouts struct {
	Holding bool `json:"holding"`
	// Holder is the last known holder: this member while it holds the token, and otherwise the holder for which it
	// keeps a copy, or the member to which it passed the token.
	Holder     string `json:"holder,omitempty"`
	HolderName string `json:"holder_name,omitempty"`
	// HolderSince is absent if it is unknown, because the token has been passed on.
	HolderSince time.Time `json:"holder_since,omitzero"`
	// Guardians keep a copy of the token while this member holds it; the first of them revives it if this member dies.
	Guardians []Guardian `json:"guardians,omitempty"`
	// Keeps is true if this member keeps a copy of the token while another member holds it.
	Keeps bool `json:"guards,omitempty"`
	// Heard is when this member last heard of a token that is silent at rest; absent if the token is here. Called is
	// who waits for such a token, and whom this member calls. Both are absent in gates whose token goes round.
	Heard  time.Time `json:"heard,omitzero"`
	Called *Called   `json:"call,omitempty"`

	Token string `json:"token,omitempty"`
	// Seq is the fencing number, and SeqText the same in digits: many readers of JSON, jq and JavaScript among them,
	// round numbers above 2⁵³.
	Seq     uint64 `json:"seq,omitempty"`
	SeqText string `json:"seq_text,omitempty"`
}

// Slot is one token of a gate that has several, and this member's state with it.
type Slot struct {
	// Slot counts from 0.
	Slot  int    `json:"slot"`
	State string `json:"state"`
	Whereabouts
}

// Guardian is a member that keeps a copy of a token.
type Guardian struct {
	Member string `json:"member"`
	Name   string `json:"name"`
}

// History answers GET /v1/history.
type History struct {
	Gates []GateHistory `json:"gates"`
}

// GateHistory are the last runs of a gate on this host, oldest first.
type GateHistory struct {
	Name string        `json:"name"`
	Runs []history.Run `json:"runs"`
	// Omitted is how many older runs another host has left out of its answer, because they did not fit.
	Omitted int `json:"omitted,omitempty"`
}

// Now answers GET /v1/now: the present holders of the tokens. It was asked of the last known holder, and of the members
// to which that holder has passed the token since.
type Now struct {
	Tokens []Holder `json:"tokens"`
}

// Holder is the holder of one token of a gate.
type Holder struct {
	Gate string `json:"gate"`
	Slot int    `json:"slot,omitempty"`
	// Member is the holder, or the last known one if Missing is not empty; both are empty if none is known.
	Name   string `json:"name,omitempty"`
	Member string `json:"member,omitempty"`
	// Missing is why the holder is not known.
	Missing string    `json:"missing,omitempty"`
	Seq     uint64    `json:"seq,omitempty"`
	SeqText string    `json:"seq_text,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Running is true while the holder runs something; RunningSince is when that began. Command is the program of
	// "wanderd exec"; empty for the hook.
	Running      bool      `json:"running,omitempty"`
	RunningSince time.Time `json:"running_since,omitzero"`
	Command      string    `json:"command,omitempty"`
}

// Fleet answers GET /v1/fleet: what each member reported of itself when it was asked, by name.
type Fleet struct {
	Asked   time.Time     `json:"asked"`
	Took    Duration      `json:"took"`
	Members []FleetMember `json:"members"`
	Now
}

// FleetMember is one member of a fleet. Members that left are not listed.
type FleetMember struct {
	Member
	// Missing is why there is no status; empty if there is.
	Missing string  `json:"missing,omitempty"`
	Status  *Status `json:"status,omitempty"`
}

// FleetHistory answers GET /v1/fleet/history.
type FleetHistory struct {
	Asked   time.Time       `json:"asked"`
	Took    Duration        `json:"took"`
	Members []MemberHistory `json:"members"`
}

// MemberHistory is the history of one member of a fleet.
type MemberHistory struct {
	Member
	// Missing is why there is no history; empty if there is.
	Missing string   `json:"missing,omitempty"`
	History *History `json:"history,omitempty"`
}

// Reloaded answers POST /v1/reload.
type Reloaded struct {
	// Changed lists the settings in force that were not in force before. Restart lists the settings in the
	// configuration that need a restart of the agent. Both have values and origins.
	Changed []string `json:"changed"`
	Restart []string `json:"restart"`
	// Waits lists what comes into force when a run has ended.
	Waits []string `json:"waits,omitempty"`
	// Problem is what is wrong with the configuration, and where; then nothing has changed.
	Problem string `json:"problem,omitempty"`
}
