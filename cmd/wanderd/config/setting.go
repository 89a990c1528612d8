package config

import (
	"fmt"
	"strings"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// ID names a setting in code.
type ID uint8

// The settings, in the order in which they are shown.
const (
	Hook ID = iota
	MinInterval
	MaxInterval
	Op
	Skip
	HookTimeout
	Walk
	Slots
	Backups
	OnLost

	Join
	Alone
	Bind
	Advertise
	Name

	SecretFile
	Insecure

	File
	StateDir
	Socket
	StopTimeout

	LogFormat
	LogLevel

	GateName
	GatePolicy

	numSettings = int(iota)
)

// Kind is what values a setting takes.
type Kind uint8

const (
	// Text is anything that is not empty.
	Text Kind = iota + 1
	// Path names a file or directory.
	Path
	// Time is a duration.
	Time
	// Number is a whole number within the setting's range.
	Number
	// Bool is true or false.
	Bool
	// List is several texts: a flag that can be repeated, commas in the environment, an array in the file.
	List
	// Command is a program and its arguments: one text in the quoting of the shell, or an array in the file.
	Command
)

// Group is the heading under which help shows a setting.
type Group string

// The groups, in the order in which help shows them.
const (
	GroupGate   Group = "Gate"
	GroupFleet  Group = "Fleet"
	GroupSecret Group = "Secrecy"
	GroupHost   Group = "Host"
	GroupLog    Group = "Log"
)

// scope is where a setting may stand, if not at the top of the file, in the environment and among the flags alone.
type scope uint8

const (
	// ofBoth: there, as the default of all gates, and in a [[gate]] table.
	ofBoth scope = iota + 1
	// ofGate: in a [[gate]] table only.
	ofGate
	// outside: not in a file, for it names the file.
	outside
)

// Setting is one thing that an operator can set.
type Setting struct {
	ID ID
	// Key is its name in the file; the other names derive from it.
	Key  string
	Kind Kind
	// Group is where help shows it; empty for what has no flag.
	Group Group
	// Placeholder stands for the value in help.
	Placeholder string
	// Choices are the values that are allowed, if not all of the kind.
	Choices []string
	// Least and Most are the range of a Number.
	Least, Most int
	// Default is the default as text; Rule says how it is made where it depends on other things.
	Default, Rule string
	// Help says in a sentence or two what the setting does.
	Help string

	scope scope
}

// The choices that code asks for.
const (
	AloneAuto = "auto"
	AloneRun  = "run"
	AloneWait = "wait"

	LogAuto     = "auto"
	LogConsole  = "console"
	LogJSON     = "json"
	LogJournald = "journald"

	PolicyWander = "wander"
)

const (
	// DefaultGate is the gate of a hook without a [[gate]] table.
	DefaultGate = "default"

	socketName = "wanderd.sock"
	gateTable  = "gate"
)

func table() [numSettings]Setting {
	return [...]Setting{
		Hook: {
			Key: "hook", Kind: Command, Group: GroupGate, Placeholder: "COMMAND", scope: ofBoth,
			Help: "The operation to gate: a program and its arguments, run while this host holds the token of the gate \"default\". " +
				"No shell takes part; ask for one where you need it: --hook \"sh -c 'a && b'\".",
		},
		MinInterval: {
			Key: "min_interval", Kind: Time, Group: GroupGate, Placeholder: "DURATION", Default: "10m", scope: ofBoth,
			Help: "The least time between two runs on one host.",
		},
		MaxInterval: {
			Key: "max_interval", Kind: Time, Group: GroupGate, Placeholder: "DURATION", scope: ofBoth,
			Rule: "the longest of 3 × min_interval, 3 × members × op and two laps",
			Help: "How long a host waits in vain for the token before it takes it for lost and makes a new one: the last resort, where " +
				"nobody guards the token, or all who do are gone with its holder. Shorter means more false alarms. Unless backups is 0, it is " +
				"never below two laps of the token as they are measured, whatever is set.",
		},
		Op: {
			Key: "op", Kind: Time, Group: GroupGate, Placeholder: "DURATION", Rule: "what the runs take, by measurement", scope: ofBoth,
			Help: "How long one run typically takes, where that is not to be measured: the estimate travels with the token, and is 4s until " +
				"somebody has run. It limits nothing; the load of the fleet and max_interval are computed from it.",
		},
		Skip: {
			Key: "skip", Kind: Time, Group: GroupGate, Placeholder: "DURATION", Default: "1s", scope: ofBoth,
			Help: "How long the token rests at a host that has no need of it. It is also how long a host waits for the answer of another.",
		},
		HookTimeout: {
			Key: "hook_timeout", Kind: Time, Group: GroupGate, Placeholder: "DURATION", Rule: "min_interval", scope: ofBoth,
			Help: "How long one run may take. Then it gets SIGTERM, and SIGKILL ten seconds later.",
		},
		Walk: {
			Key: "walk", Kind: Text, Group: GroupGate, Placeholder: walkNames("|"), Default: wander.Sweep.String(),
			Choices: strings.Split(walkNames("|"), "|"), scope: ofBoth,
			Help: "Where the token goes next: to any other host, or round, once to every host in each lap, in a fresh order for each lap " +
				"(shuffle) or always in the same (sweep). All hosts should have the same.",
		},
		Slots: {
			Key: "slots", Kind: Number, Group: GroupGate, Placeholder: "NUMBER", Default: "1", Least: 1, Most: wire.MaxSlots, scope: ofBoth,
			Help: fmt.Sprintf("How many hosts may run at once, 1 to %d. The gate has so many tokens, and no host runs under two. "+
				"All hosts must have the same.", wire.MaxSlots),
		},
		Backups: {
			Key: "backups", Kind: Number, Group: GroupGate, Placeholder: "NUMBER", Default: "2", Most: wire.MaxBackups, scope: ofBoth,
			Help: fmt.Sprintf("How many hosts guard a token, 0 to %d: those that held it last keep a copy, and when its holder dies one "+
				"of them takes it up again, after about one and a half times skip. 0 is the plain paper: then a token that is lost "+
				"costs up to max_interval. All hosts should have the same.", wire.MaxBackups),
		},
		OnLost: {
			Key: "on_lost", Kind: Text, Group: GroupGate, Placeholder: wander.Finish.String() + "|" + wander.Stop.String(),
			Default: wander.Finish.String(), Choices: []string{wander.Finish.String(), wander.Stop.String()}, scope: ofBoth,
			Help: "What becomes of a run whose token another host has taken up meanwhile, because this one seemed dead: it may finish, " +
				"beside the other's, or is stopped at once, as after hook_timeout.",
		},
		Join: {
			Key: "join", Kind: List, Group: GroupFleet, Placeholder: "HOST[:PORT]",
			Help: "A member to find the fleet by, as a name or an address; can be repeated. One that answers is enough; " +
				"they are asked again for as long as the agent runs.",
		},
		Alone: {
			Key: "alone", Kind: Text, Group: GroupFleet, Placeholder: AloneAuto + "|" + AloneRun + "|" + AloneWait, Default: AloneAuto,
			Choices: []string{AloneAuto, AloneRun, AloneWait},
			Help: "What a host does that starts and sees no other: run the hook as a fleet of one, or wait; auto waits with join, and if the " +
				"host was in a fleet before. Then it waits for max_interval at most.",
		},
		Bind: {
			Key: "bind", Kind: Text, Group: GroupFleet, Placeholder: "[HOST][:PORT]",
			Rule: "127.0.0.1:7946; [::]:7946, which is IPv6 and IPv4, with a secret or insecure",
			Help: "The address of everything, UDP and TCP. What is left out is as in the default.",
		},
		Advertise: {
			Key: "advertise", Kind: Text, Group: GroupFleet, Placeholder: "HOST[:PORT]", Rule: "what bind says, or a private address of this host",
			Help: "The address that other members are told, where it is another than the one that is bound.",
		},
		Name: {
			Key: "name", Kind: Text, Group: GroupFleet, Placeholder: "NAME", Rule: "the name of the host",
			Help: "What people call this member.",
		},
		SecretFile: {
			Key: "secret_file", Kind: Path, Group: GroupSecret, Placeholder: "PATH",
			Help: "The fleet's secret, the same file on every host, readable by its owner only. " +
				"It seals all messages; who has it can take part. \"wanderd keygen --secret\" makes one.",
		},
		Insecure: {
			Key: "insecure", Kind: Bool, Group: GroupSecret, Default: "false",
			Help: "Allow more than loopback without a secret: everybody who reaches the port can take part, and take the token.",
		},
		File: {
			Key: "config", Kind: Path, Group: GroupHost, Placeholder: "PATH", scope: outside,
			Help: "A TOML file with settings. Its keys are the names of these flags, with underscores.",
		},
		StateDir: {
			Key: "state_dir", Kind: Path, Group: GroupHost, Placeholder: "PATH",
			Rule: "/var/lib/wanderd for root, ~/.local/state/wanderd for others, or what systemd says",
			Help: "Where the node key and the time of the last run are kept.",
		},
		Socket: {
			Key: "socket", Kind: Path, Group: GroupHost, Placeholder: "PATH", Rule: socketName + " in state_dir",
			Help: "The socket on which the agent answers \"wanderd status\" and \"wanderd members\".",
		},
		StopTimeout: {
			Key: "stop_timeout", Kind: Time, Group: GroupHost, Placeholder: "DURATION", Default: "20s",
			Help: "How long the agent may take to stop its hooks and to pass its tokens on when it is told to stop.",
		},
		LogFormat: {
			Key: "log_format", Kind: Text, Group: GroupLog, Placeholder: "FORMAT", Default: LogAuto,
			Choices: []string{LogAuto, LogConsole, LogJSON, LogJournald},
			Help:    "auto, console, json or journald. auto is journald under systemd, console on a terminal, and json elsewhere.",
		},
		LogLevel: {
			Key: "log_level", Kind: Text, Group: GroupLog, Placeholder: "LEVEL", Default: "info",
			Choices: []string{"trace", "debug", "info", "warn", "error"},
			Help:    "The least level that is logged: trace, debug, info, warn or error. debug shows every handoff.",
		},
		GateName: {
			Key: "name", Kind: Text, Placeholder: "NAME", scope: ofGate,
			Help: "What the gate is called, on every host alike: 1 to 64 of a-z, 0-9, '-', '_' and '.'.",
		},
		GatePolicy: {
			Key: "policy", Kind: Text, Placeholder: "POLICY", Default: PolicyWander, Choices: []string{PolicyWander}, scope: ofGate,
			Help: "How the token goes round.",
		},
	}
}

// walkNames lists the walks.
func walkNames(separator string) string {
	var names []string
	for _, w := range wander.Walks() {
		names = append(names, w.String())
	}
	return strings.Join(names, separator)
}

// Settings returns all settings that have a flag, in the order in which help shows them.
func Settings() []Setting {
	var all []Setting
	for id := range ID(numSettings) {
		if s := id.Setting(); s.scope != ofGate {
			all = append(all, s)
		}
	}
	return all
}

// GateSettings returns what may stand in a [[gate]] table.
func GateSettings() []Setting {
	all := []Setting{GateName.Setting(), GatePolicy.Setting()}
	for id := range ID(numSettings) {
		if s := id.Setting(); s.scope == ofBoth {
			all = append(all, s)
		}
	}
	return all
}

// Setting returns the entry of the table.
func (id ID) Setting() Setting {
	s := table()[id]
	s.ID = id
	return s
}

// Flag returns the name of the flag, without dashes.
func (s Setting) Flag() string { return strings.ReplaceAll(s.Key, "_", "-") }

// Env returns the name of the environment variable.
func (s Setting) Env() string { return envPrefix + strings.ToUpper(s.Key) }

// DefaultText says what holds if nobody sets it; "" if that is nothing.
func (s Setting) DefaultText() string {
	if s.Rule != "" {
		return s.Rule
	}
	return s.Default
}

// envPrefix begins every variable of ours.
const envPrefix = "WANDERD_"
