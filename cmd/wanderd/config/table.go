package config

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// The choices that code asks for.
const (
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
)

// Table returns all settings that have a flag, in the order in which help shows them.
func Table() settings.Table { return new(Layers).table() }

func (l *Layers) table() settings.Table {
	return slices.Concat(constants(&l.shared).Under("Gate"), l.fleet().Under("Fleet"), l.secrecy().Under("Secrecy"),
		l.host().Under("Host"), l.log().Under("Log"))
}

// table returns what may stand in a [[gate]] table: its name, its policy and the constants.
func (g *gate) table() settings.Table {
	return slices.Concat(settings.Table{
		{
			Key: "name", Value: settings.Text(&g.Name),
			Help: "What the gate is called, on every host alike: 1 to 64 of a-z, 0-9, '-', '_' and '.'.",
		},
		{
			Key: "policy", Value: settings.Choice(&g.policy, PolicyWander), Default: PolicyWander, Help: "How the token goes round.",
		},
	}, constants(&g.GateConfig))
}

// constants returns what may stand at the top, for all gates, and in a [[gate]] table, for that gate.
func constants(g *agent.GateConfig) settings.Table {
	return settings.Table{
		{
			Key: "hook", Value: settings.Command(&g.Hook, hook.Split),
			Help: "The operation to gate: a program and its arguments, run while this host holds the token of the gate \"default\". " +
				"No shell takes part; ask for one where you need it: --hook \"sh -c 'a && b'\".",
		},
		{
			Key: "min_interval", Value: settings.Positive(&g.MinInterval), Default: "10m",
			Help: "The least time between two runs on one host.",
		},
		{
			Key: "max_interval", Value: settings.Positive(&g.MaxInterval),
			Rule: "the longest of 3 × min_interval, 3 × members × op and two laps",
			Help: "How long a host waits in vain for the token before it takes it for lost and makes a new one: the last resort, where " +
				"nobody guards the token, or all who do are gone with its holder. Shorter means more false alarms. Unless backups is 0, it is " +
				"never below two laps of the token as they are measured, whatever is set.",
		},
		{
			Key: "op", Value: settings.Positive(&g.Op), Rule: "what the runs take, by measurement",
			Help: "How long one run typically takes, where that is not to be measured: the estimate travels with the token, and is 4s until " +
				"somebody has run. It limits nothing; the load of the fleet and max_interval are computed from it.",
		},
		{
			Key: "skip", Value: settings.Positive(&g.Skip), Default: "1s",
			Help: "How long the token rests at a host that has no need of it. It is also how long a host waits for the answer of another.",
		},
		{
			Key: "hook_timeout", Value: settings.Positive(&g.HookTimeout), Rule: "min_interval",
			Help: "How long one run may take. Then it gets SIGTERM, and SIGKILL ten seconds later.",
		},
		{
			Key: "walk", Value: settings.Choice(&g.Walk, wander.Walks()...), Default: wander.Sweep.String(),
			Help: "Where the token goes next: to any other host, or round, once to every host in each lap, in a fresh order for each lap " +
				"(shuffle) or always in the same (sweep). All hosts should have the same.",
		},
		{
			Key: "slots", Value: settings.Count(&g.Slots, 1, wire.MaxSlots), Placeholder: "NUMBER", Default: "1",
			Help: fmt.Sprintf("How many hosts may run at once, 1 to %d. The gate has so many tokens, and no host runs under two. "+
				"All hosts must have the same.", wire.MaxSlots),
		},
		{
			Key: "backups", Value: settings.Count(&g.Backups, 0, wire.MaxBackups), Placeholder: "NUMBER", Default: "2",
			Help: fmt.Sprintf("How many hosts guard a token, 0 to %d: those that held it last keep a copy, and when its holder dies one "+
				"of them takes it up again, after about one and a half times skip. 0 is the plain paper: then a token that is lost "+
				"costs up to max_interval. All hosts should have the same.", wire.MaxBackups),
		},
		{
			Key: "on_lost", Value: settings.Choice(&g.OnLost, wander.Finish, wander.Stop), Default: wander.Finish.String(),
			Help: "What becomes of a run whose token another host has taken up meanwhile, because this one seemed dead: it may finish, " +
				"beside the other's, or is stopped at once, as after hook_timeout.",
		},
	}
}

func (l *Layers) fleet() settings.Table {
	return settings.Table{
		{
			Key: "join", Value: settings.List(&l.Agent.Join), Placeholder: "HOST[:PORT]",
			Help: "A member to find the fleet by, as a name or an address; can be repeated. One that answers is enough; " +
				"they are asked again for as long as the agent runs.",
		},
		{
			Key: "alone", Value: settings.Choice(&l.alone, "auto", "run", "wait"), Default: "auto",
			Help: "What a host does that starts and sees no other: run the hook as a fleet of one, or wait; auto waits with join, and if the " +
				"host was in a fleet before. Then it waits for max_interval at most.",
		},
		{
			Key: "bind", Value: settings.Text(&l.bind), Placeholder: "[HOST][:PORT]",
			Rule: "127.0.0.1:7946; [::]:7946, which is IPv6 and IPv4, with a secret or insecure",
			Help: "The address of everything, UDP and TCP. What is left out is as in the default.",
		},
		{
			Key: "advertise", Value: settings.Text(&l.advertise), Placeholder: "HOST[:PORT]",
			Rule: "what bind says, or a private address of this host",
			Help: "The address that other members are told, where it is another than the one that is bound.",
		},
		{Key: "name", Value: settings.Text(&l.Agent.Name), Rule: "the name of the host", Help: "What people call this member."},
	}
}

func (l *Layers) secrecy() settings.Table {
	return settings.Table{
		{
			Key: "secret_file", Value: settings.Path(&l.secretFile),
			Help: "The fleet's secret, the same file on every host, readable by its owner only. " +
				"It seals all messages; who has it can take part. \"wanderd keygen --secret\" makes one.",
		},
		{
			Key: "insecure", Value: settings.Bool(&l.Agent.Insecure), Default: "false",
			Help: "Allow more than loopback without a secret: everybody who reaches the port can take part, and take the token.",
		},
	}
}

func (l *Layers) host() settings.Table {
	return settings.Table{
		{
			Key: "config", Value: settings.Text(&l.file), Placeholder: "PATH", NotInFile: true,
			Help: "A TOML file with settings. Its keys are the names of these flags, with underscores.",
		},
		{
			Key: "state_dir", Value: settings.Path(&l.Agent.StateDir),
			Rule: "/var/lib/wanderd for root, ~/.local/state/wanderd for others, or what systemd says",
			Help: "Where the node key and the time of the last run are kept.",
		},
		{
			Key: "socket", Value: settings.Path(&l.Agent.Socket), Rule: socketName + " in state_dir",
			Help: "The socket on which the agent answers \"wanderd status\" and \"wanderd members\".",
		},
		{
			Key: "stop_timeout", Value: settings.Positive(&l.Agent.StopTimeout), Default: "20s",
			Help: "How long the agent may take to stop its hooks and to pass its tokens on when it is told to stop.",
		},
	}
}

func (l *Layers) log() settings.Table {
	return settings.Table{
		{
			Key: "log_format", Value: settings.Choice(&l.LogFormat, LogAuto, LogConsole, LogJSON, LogJournald),
			Placeholder: "FORMAT", Default: LogAuto,
			Help: "auto, console, json or journald. auto is journald under systemd, console on a terminal, and json elsewhere.",
		},
		{
			Key: "log_level", Value: settings.Choice(&l.LogLevel, "trace", "debug", "info", "warn", "error"),
			Placeholder: "LEVEL", Default: "info",
			Help: "The least level that is logged: trace, debug, info, warn or error. debug shows every handoff.",
		},
	}
}
