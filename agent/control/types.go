// Package control connects an operator's command with a running agent: JSON over HTTP on a unix socket.
//
// It contains the documents, the server and the client. The agent supplies the documents; this package decides nothing.
// The agent's user, root and, if there is one, the socket's group may ask: the file system and the credentials that the
// kernel tells of each connection say so.
//
//	GET /v1/status    a [Status]
//	GET /v1/members   a [Members]
//	POST /v1/exec     a [Call]; the connection then belongs to the caller and its run
//	GET /v1/history   a [History]
//	GET /v1/now       a [Now]
//	GET /v1/fleet     a [Fleet]
//	GET /v1/fleet/history?gate=G&failed=true&since=T   a [FleetHistory]; see [Which]
//	POST /v1/drain    {}; the agent stops when what runs has ended
//	POST /v1/reload   a [Reloaded]; the agent reads its configuration again
//	POST /v1/order    an [Order]; {}
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
	// TwoSecrets says that the fleet changes its secret: this host has two. SealedBySecond names the members that seal
	// with its second one.
	TwoSecrets     bool     `json:"two_secrets,omitempty"`
	SealedBySecond []string `json:"sealed_by_second,omitempty"`
	Members        int      `json:"members"`
	Gates          []Gate   `json:"gates"`
	// Dropped counts dropped datagrams by reason.
	Dropped map[string]uint64 `json:"dropped"`
	// Gossip has the counters of membership.Stats that are not 0.
	Gossip map[string]uint64 `json:"gossip,omitempty"`
	// Warnings are signs of mistakes that an operator can correct, latest first.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Warning is a sign of a mistake, with the remedy.
type Warning struct {
	// Gate is the gate that it is about; empty if that is not one gate.
	Gate string `json:"gate,omitempty"`
	Text string `json:"text"`
	// Count is how often it was seen since the agent started, Last the last time, and From its source if that is known.
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
	// Whereabouts is where the token is. If there are several, it is the one that concerns this member most.
	Whereabouts
	Running bool `json:"running"`
	// Removed says that the configuration does not have this gate any more: it goes when its run has ended.
	Removed bool `json:"removed,omitempty"`
	// SilentSince is when this member last held a token or knew that another member held one; absent while it holds
	// one.
	SilentSince time.Time `json:"silent_since,omitzero"`
	// NotRunning is the reason why the hook is not running now; empty while it is.
	NotRunning string `json:"not_running,omitempty"`
	// Because is the same for programs. If it is [BecauseWaiting], DueSince is since when the gate waits for the token,
	// and LapsWaited for how many laps, if a lap is known.
	Because    Because   `json:"because,omitempty"`
	DueSince   time.Time `json:"due_since,omitzero"`
	LapsWaited float64   `json:"laps_waited,omitempty"`
	LastRun    time.Time `json:"last_run,omitzero"`
	// LastExit is [ExitOK], [ExitNotNow], or why the last run of the hook has failed. What callers ran is not among the
	// runs: it is their business.
	LastExit string    `json:"last_exit,omitempty"`
	LastTook Duration  `json:"last_took,omitzero"`
	NextRun  time.Time `json:"next_run,omitzero"`
	Runs     uint64    `json:"runs"`
	Failures uint64    `json:"failures"`
	// Results counts the runs of the hook that have ended: ok, failed, not_now, timeout, stopped, expired, not_started.
	// Taken and Given count the tokens that came to this member and left it, by the cause.
	Results map[string]uint64 `json:"results"`
	// OnDemand says that the gate has no hook: then LastRun is that of a command. Commands counts the commands of
	// callers that were granted the gate, CommandResults how they have ended, and LastCommand is the last that has
	// ended.
	OnDemand       bool              `json:"on_demand,omitempty"`
	Commands       uint64            `json:"commands"`
	CommandResults map[string]uint64 `json:"command_results"`
	LastCommand    *CommandEnd       `json:"last_command,omitempty"`
	Taken          map[string]uint64 `json:"taken"`
	Given          map[string]uint64 `json:"given"`
	// LastSuccess is when the hook last succeeded, also before the last restart of the agent.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// SavingSince is when the current save of the gate's state began. SaveError is why the last one failed: the hook
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
	// Slots is how many tokens the gate has. If there are several, Tokens lists them in the order of their slots.
	Slots  int    `json:"slots"`
	Tokens []Slot `json:"tokens,omitempty"`
	// Backups is how many guardians a token should have. OnLost is "finish" or "stop": how a run ends whose token
	// another member has revived.
	Backups int    `json:"backups"`
	OnLost  string `json:"on_lost"`
	// AskBeforeRun says that this member asks all others before it runs.
	AskBeforeRun bool `json:"ask_before_run,omitempty"`
	// Roster is that of a strict gate, in the order of the names; absent in other gates.
	Roster []Voter `json:"roster,omitempty"`
	// Windows are when the gate may run; none is always. WindowOpen says that one is open until WindowCloses; otherwise
	// the next one opens at WindowOpens.
	Windows      []string  `json:"windows,omitempty"`
	WindowOpen   bool      `json:"window_open,omitempty"`
	WindowOpens  time.Time `json:"window_opens,omitzero"`
	WindowCloses time.Time `json:"window_closes,omitzero"`
	// Callers are those on this host who wait for a run, in their order; the first may be running.
	Callers []Caller `json:"callers,omitempty"`
	// Now is who has the tokens now; "wanderd status" asks for that apart, and puts it here.
	Now []Holder `json:"now,omitempty"`
	// Ready is what this host says to the question whether it needs a run; absent if it is not asked.
	Ready *Ready `json:"ready,omitempty"`
	// Paused is the pause of the gate on all hosts, PausedHere that of this host alone; absent if it is not paused.
	Paused     *Pause `json:"paused,omitempty"`
	PausedHere *Pause `json:"paused_here,omitempty"`
	// Failing are the hosts whose last runs have failed in a row, with their exit statuses, as far as this host knows.
	Failing []Failing `json:"failing,omitempty"`
	// Fault is the last fault in the agent's program that this gate has met, and Faults counts them since the agent
	// started: the gate is closed on this host. Absent and 0 otherwise.
	Fault  string `json:"fault,omitempty"`
	Faults uint64 `json:"faults,omitempty"`
	// Facts are what else the gate's protocol has to tell.
	Facts []Fact `json:"facts,omitempty"`
	// Notes counts events since the agent started, by note.
	Notes map[string]uint64 `json:"notes"`
}

// Order asks to pause a gate, or to resume it.
type Order struct {
	// Gate is the gate's name; empty for all gates of this host.
	Gate string `json:"gate,omitempty"`
	// Elsewhere says that this host need not have the gate: other hosts do.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Pause says what to do: otherwise the gate is resumed. Here concerns this host alone.
	Pause bool `json:"pause"`
	Here  bool `json:"here,omitempty"`
	// For is how long it is paused; zero is until somebody resumes it.
	For    Duration `json:"for,omitzero"`
	Reason string   `json:"reason,omitempty"`
	// User is who asks. The server knows it from the kernel.
	User string `json:"-"`
}

// Renew asks for a new token in place of one that is lost.
type Renew struct {
	// Gate is the gate's name; empty if the agent has only one.
	Gate string `json:"gate,omitempty"`
}

// Renewed says which tokens were made.
type Renewed struct {
	Gate string `json:"gate"`
	// Slots are those of the new tokens; 0 in a gate with one.
	Slots []int `json:"slots"`
}

// RunNow asks for a run of the gate's hook on this host, whatever min_interval says.
type RunNow struct {
	// Gate is the gate's name; empty if the agent has only one. Wait lets the answer wait for the end of the run.
	Gate string `json:"gate,omitempty"`
	Wait bool   `json:"wait,omitempty"`
	// PID is the caller's process number. The server knows it from the kernel.
	PID int `json:"-"`
}

// RunEnd is how a run has ended.
type RunEnd struct {
	Ended bool `json:"ended,omitempty"`
	// Unready says that there was none: this host has not said that it needs one. Error is what it said, and Exit with
	// which status.
	Unready bool `json:"unready,omitempty"`
	// Exit is the status as a shell has it, Error what went wrong.
	Exit  int      `json:"exit,omitempty"`
	Error string   `json:"error,omitempty"`
	Took  Duration `json:"took,omitzero"`
}

// CommandEnd is how a caller's command has ended: Exit is [ExitOK], or what went wrong.
type CommandEnd struct {
	Command string    `json:"command"`
	Began   time.Time `json:"began"`
	Took    Duration  `json:"took"`
	Exit    string    `json:"exit"`
}

// Answer is what a host has said to the question whether it needs a run.
type Answer string

// What a host can say: it needs one; it does not now; or something is wrong with the question.
const (
	AnswerYes   Answer = "yes"
	AnswerNo    Answer = "no"
	AnswerError Answer = "error"
)

// What a run has ended with, unless it failed.
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

// Ready is the question to a host whether it needs a run of the hook.
type Ready struct {
	// Answer is the last one since the agent started, or since the question has changed; absent if there was none. At
	// is when it came, Error what was wrong.
	Answer Answer    `json:"answer,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Error  string    `json:"error,omitempty"`
	// Counts says that it is a yes, and that this host runs by it.
	Counts bool `json:"counts,omitempty"`
	// AskingSince is since when an answer is awaited, Next when the host is asked next.
	AskingSince time.Time `json:"asking_since,omitzero"`
	Next        time.Time `json:"next,omitzero"`
	// Answers counts all since the agent started: yes, no, error.
	Answers map[string]uint64 `json:"answers"`
}

// Pause says who has paused a gate, when, why, and until when.
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

// Caller is somebody who asked for a run ("wanderd exec").
type Caller struct {
	// PID is the caller's process number, as the kernel tells it; 0 if that is of another namespace.
	PID int `json:"pid"`
	// Command is the name of the command's program, without its arguments.
	Command string `json:"command"`
	// Since is when it asked. Running says that its command runs; RunningSince is when that was granted.
	Since        time.Time `json:"since"`
	Running      bool      `json:"running,omitempty"`
	RunningSince time.Time `json:"running_since,omitzero"`
}

// Absent is the state of a gate whose token is elsewhere, or nowhere.
const Absent = "absent"

// Closed is the state of a gate that takes no part any more, because something is wrong with it: NotRunning says what.
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
	// Agrees says that the member has declared the roster that this host has.
	Agrees bool `json:"agrees,omitempty"`
}

// Fact is something that only one protocol has to tell: the fields that are there say what.
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
	// Holder is the last known holder: this member while it holds the token, else the holder that it guards, or the
	// member to which it passed the token.
	Holder     string `json:"holder,omitempty"`
	HolderName string `json:"holder_name,omitempty"`
	// HolderSince is absent if it is unknown, because the token has been passed on.
	HolderSince time.Time `json:"holder_since,omitzero"`
	// Guardians keep a copy of the token while this member holds it; the first revives it if this member dies.
	Guardians []Guardian `json:"guardians,omitempty"`
	// Guards is set if this member keeps a copy of the token while another member holds it.
	Guards bool   `json:"guards,omitempty"`
	Token  string `json:"token,omitempty"`
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

// Guardian is a member that guards a token.
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
	// Omitted is how many older runs an answer from another host has left out, because they did not fit.
	Omitted int `json:"omitted,omitempty"`
}

// Now answers GET /v1/now: who has the tokens now. The last known holder was asked, and those to which it has passed
// the token since.
type Now struct {
	Tokens []Holder `json:"tokens"`
}

// Holder is who has a token of a gate.
type Holder struct {
	Gate string `json:"gate"`
	Slot int    `json:"slot,omitempty"`
	// Member is the holder, or the last known one if Missing is set; both are empty if none is known.
	Name   string `json:"name,omitempty"`
	Member string `json:"member,omitempty"`
	// Missing is why the holder is not known.
	Missing string    `json:"missing,omitempty"`
	Seq     uint64    `json:"seq,omitempty"`
	SeqText string    `json:"seq_text,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Running says that it runs; RunningSince is when that began. Command is the program of "wanderd exec"; empty for
	// the hook.
	Running      bool      `json:"running,omitempty"`
	RunningSince time.Time `json:"running_since,omitzero"`
	Command      string    `json:"command,omitempty"`
}

// Fleet answers GET /v1/fleet: what each member said of itself when it was asked, by name.
type Fleet struct {
	Asked   time.Time     `json:"asked"`
	Took    Duration      `json:"took"`
	Members []FleetMember `json:"members"`
	Now
}

// FleetMember is one member of a fleet. Those that left are none.
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

// Members answers GET /v1/members.
type Members struct {
	Members []Member `json:"members"`
}

// Member is one agent as this one sees it.
type Member struct {
	Name    string `json:"name"`
	Member  string `json:"member"`
	Address string `json:"address"`
	// State is "alive", "suspect", "left", "failed" or "untrusted".
	State string `json:"state"`
	// Since is when the state or the address changed last, as far as this agent knows; absent for itself. SilentSince
	// is since when the member has not answered datagrams of this one; absent if it does.
	Since       time.Time `json:"since,omitzero"`
	SilentSince time.Time `json:"silent_since,omitzero"`
	// KnownHosts is the line for its key in a file of known hosts.
	KnownHosts string `json:"known_hosts,omitempty"`

	Self  bool     `json:"self"`
	Gates []string `json:"gates"`
}

// Reloaded answers POST /v1/reload.
type Reloaded struct {
	// Changed is what is in force now and was not before, Restart what is in the configuration and needs a restart of
	// the agent: settings with their values and origins.
	Changed []string `json:"changed"`
	Restart []string `json:"restart"`
	// Waits is what comes into force when a run has ended.
	Waits []string `json:"waits,omitempty"`
	// Problem says what is wrong with the configuration, and where; then nothing has changed.
	Problem string `json:"problem,omitempty"`
}
