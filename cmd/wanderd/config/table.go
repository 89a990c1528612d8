package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/patterns"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

// The choices that the code refers to.
const (
	LogAuto     = "auto"
	LogConsole  = "console"
	LogJSON     = "json"
	LogJournald = "journald"

	keepGiveUp     = "give-up"
	keepStandStill = "stand-still"

	trustSecret     = "secret"
	trustKnownHosts = "known_hosts"
)

const (
	// defaultGate is the gate of a hook without a [[gate]] table.
	defaultGate = "default"

	socketName = "wanderd.sock"
)

// Table returns all settings that have a flag, in the order in which help shows them.
func Table() settings.Table { return new(Layers).table() }

func (l *Layers) table() settings.Table {
	return slices.Concat(constants(&l.shared).Under("Gate"), settings.Table{
		settings.Row("join", settings.List(&l.Agent.Join), "",
			"A member through which the agent finds the fleet: a name or an address. Can be repeated. One that "+
				"answers is enough; "+
				"the agent asks them again for as long as it runs. srv:NAME takes the members from SRV records, and "+
				"exec:COMMAND from the lines that a program writes, one host or host:port each. Such a source is "+
				"asked again while nobody answers, and every ten minutes; if it fails, or names nobody, its last "+
				"answer counts on.").As("HOST[:PORT]"),
		settings.Row("alone", settings.Choice(&l.alone, "auto", "run", "wait"), "auto",
			"What a host does when it starts and sees no other host: run the hook as a fleet of one, or wait. auto "+
				"waits if join is set, or if "+
				"the host was in a fleet before. A host that was in a fleet waits for max_interval at most."),
		settings.Ruled("bind", settings.Text(&l.bind),
			"127.0.0.1:7946; [::]:7946, which is IPv6 and IPv4, with a secret or insecure",
			"The address that the agent binds, UDP and TCP. If you leave out a part, it is as in the default.").
			As("[HOST][:PORT]"),
		settings.Ruled("advertise", settings.Text(&l.advertise), "the bound address, or a private one of this host",
			"The address that other members use, if it is not the bound one.").As("HOST[:PORT]"),
		settings.Ruled("name", settings.Text(&l.Agent.Name), "the name of the host",
			"The name of this member, for people."),
		settings.Row("zone", settings.Text(&l.zone), "",
			"The zone of this host, as in eu-1a: 1 to 64 of a-z, 0-9, '-', '_' and '.'. A gate with per_zone lets "+
				"only so many hosts of one zone run at once.").As("ZONE"),
	}.Under("Fleet"), settings.Table{
		settings.Row("secret_file", settings.Path(&l.secretFile), "",
			"The fleet's secret, the same file on every host, readable by its owner only. "+
				"It seals all messages. Everybody who has it can take part. \"wanderd keygen --secret\" makes one. "+
				"While the fleet changes its secret, "+
				"the file may have two lines: the first secret seals, both open. The agent reads the file again when "+
				"it has changed."),
		settings.Row("trust", settings.Choice(&l.trust, trustSecret, trustKnownHosts), trustSecret,
			"Who may take part: everybody who has the secret (secret), or only those whose keys are also in the file "+
				"known_hosts (known_hosts)."),
		settings.Row("known_hosts", settings.Path(&l.knownHosts), "",
			"The members' keys, in the format of OpenSSH's known hosts: keys, @cert-authority, @revoked. Its names "+
				"are names of members. "+
				"The agent reads the file again when it has changed. It has an effect with trust = known_hosts only."),
		settings.Row("insecure", settings.Bool(&l.Agent.Insecure), "false",
			"Allow addresses other than loopback without a secret. Then everybody who reaches the port can take "+
				"part, and can take the token."),
		settings.Row("trust_hook", settings.Bool(&l.trustHook), "false",
			"Run a hook although other users of this host can replace it, its directory, or the configuration file "+
				"that names it."),
	}.Under("Secrecy"), settings.Table{
		{
			Key: "config", Value: settings.Text(&l.file), Placeholder: "PATH", NotInFile: true,
			Help: "A TOML file with settings. Its keys are the names of these flags, with underscores.",
		},
		settings.Ruled("state_dir", settings.Path(&l.Agent.StateDir),
			"/var/lib/wanderd for root, ~/.local/state/wanderd for others, or what systemd says",
			"Where the node key and the time of the last run are kept."),
		settings.Ruled("socket", settings.Path(&l.Agent.Socket), socketName+" in state_dir",
			"The control socket, on which the agent answers \"wanderd exec\", \"wanderd status\" and the other "+
				"commands."),
		settings.Row("socket_group", settings.Text(&l.Agent.SocketGroup), "",
			"A group of this host. Its members may run commands under the gates (\"wanderd exec\") and see the "+
				"state, as the agent's user and "+
				"root may. Only the agent's user can enter state_dir, so the socket needs another place, such as "+
				"/run/wanderd/wanderd.sock.").As("GROUP"),
		settings.Row("metrics", settings.Text(&l.Agent.Metrics), "",
			"Serve metrics for Prometheus over HTTP at this address, as in 127.0.0.1:9946, under /metrics. Everybody "+
				"who reaches it can read them. "+
				"The control socket has them without this flag.").As("HOST:PORT"),
		settings.Row("stop", settings.Choice(&l.stop, "end", "drain"), "end",
			"What a stop does with a hook that runs. end stops it; it is due again after the restart. drain waits "+
				"for its end, up to hook_timeout. "+
				"\"wanderd drain\" does that once."),
		settings.Row("stop_timeout", settings.Positive(&l.Agent.StopTimeout), "20s",
			"How long a stop may take: the agent stops its hooks and passes its tokens on."),
	}.Under("Host"), settings.Table{
		settings.Row("on_event", settings.Command(&l.Agent.Events.Command, hook.Split), "",
			"A program and its arguments that is started for each event: a run that starts, ends or fails, a pause, a "+
				"lost token. It gets the event as JSON on its standard input, and in WANDERD_EVENT and further "+
				"variables. Status 0 is \"taken\", 75 \"again later\", and anything else \"refused\". One runs at a "+
				"time, and no run waits for it.").As("COMMAND"),
		settings.Row("on_event_timeout", settings.Positive(&l.Agent.Events.Timeout), "30s",
			"How long on_event may take. Then it gets SIGTERM, and SIGKILL a second later.").Needing("on_event"),
		settings.Row("webhook", settings.Text(&l.Agent.Events.Webhook), "",
			"The URL of a web server that gets each event by POST, as JSON. An answer of 200 to 299 is \"taken\". "+
				"Redirects are not followed. http:// is allowed to this host only. If the URL is a secret, use "+
				"webhook_file.").As("URL"),
		settings.Row("webhook_file", settings.Path(&l.Agent.Events.WebhookFile), "",
			"A file with the URL of the webhook, readable by its owner only. It is read again for each event."),
		settings.Row("webhook_body", settings.Text(&l.Agent.Events.Body), "",
			"The JSON that the webhook gets instead of the event, as in '{\"text\": \"{host}: {event}\"}'. {name} "+
				"stands for a field of the event.").As("JSON"),
		settings.Row("events", settings.List(&l.Agent.Events.Only), "",
			"The kinds of events that are told: "+strings.Join(events.Kinds(), ", ")+". If none is named, all "+
				"are.").As("KIND,KIND,..."),
	}.Under("Events"), settings.Table{
		settings.Row("log_format", settings.Choice(&l.LogFormat, LogAuto, LogConsole, LogJSON, LogJournald), LogAuto,
			"auto, console, json or journald. auto is journald under systemd, console on a terminal, and json "+
				"elsewhere.").As("FORMAT"),
		settings.Row("log_level", settings.Choice(&l.LogLevel, "trace", "debug", "info", "warn", "error"), "info",
			"The lowest level that is logged: trace, debug, info, warn or error. debug shows every handoff.").
			As("LEVEL"),
	}.Under("Log"))
}

// GateTable returns the settings that have no flag, because they are those of one gate.
func GateTable() settings.Table { return new(section).own() }

func (g *section) own() settings.Table {
	return append(settings.Table{
		settings.Row("name", settings.Text(&g.Name), "",
			fmt.Sprintf("The name of the gate, the same on every host: 1 to %d of a-z, 0-9, '-', '_' and '.'. With a "+
				"star at its end, as in \"build-*\", it is a pattern: \"wanderd exec --gate build-42\" makes a "+
				"gate with these settings, which is forgotten when it was not used for %v. At most %d at a time.",
				patterns.MostName,
				patterns.Forgets, identity.MaxOnDemand)),
		settings.Row("fleetlock", settings.Text(&g.FleetLock), "",
			"Let programs that reboot this host, such as Zincati, ask with the FleetLock protocol at this loopback "+
				"address, as in fleetlock = \"127.0.0.1:9090\". They are granted one after the other in the fleet, "+
				"and the grant is kept until the program says that the host is steady again, or for keep, which must "+
				"be set. Everybody on this host can ask there.").As("HOST:PORT"),
		settings.Row("fleetlock_group", settings.Text(&g.FleetLockGroup), "",
			"The group that these programs must name, if it is not the name of the gate."),
	}, g.together()...).Under("Only in a [[gate]] table")
}

// table returns the settings of a [[gate]] table: its own, and the constants.
func (g *section) table() settings.Table { return slices.Concat(g.own(), constants(&g.terms)) }

// constants returns the settings that are allowed at the top, for all gates, and in a [[gate]] table, for that gate.
func constants(g *terms) settings.Table {
	return settings.Table{
		settings.Row("hook", settings.Command(&g.Hook, hook.Split), "",
			"The operation to gate: a program and its arguments, run while this host holds the token of the gate "+
				"\"default\". "+
				"It is not run by a shell; if you need one: --hook \"sh -c 'a && b'\". A [[gate]] without a hook "+
				"runs only the commands of "+
				"\"wanderd exec\"."),
		settings.Row("ready", settings.Command(&g.Ready, hook.Split), "",
			"A program and its arguments that says whether this host needs the hook, as in --ready "+
				"/usr/local/bin/upgrades-wait. The agent runs "+
				"it before the hook is due, and without the token. Status 0 is yes, 75 is \"not needed now\", and "+
				"anything else is an error, which is "+
				"logged and counted. The hook runs only after a yes. The agent asks again after retry_after, and "+
				"before each run. Commands "+
				"of callers run without it. \"wanderd run\" asks first."),
		settings.Row("ready_timeout", settings.Positive(&g.ReadyTimeout), "30s",
			"How long ready may take. If it takes longer, it is killed, which counts as an error. It is started this "+
				"long before the hook is due.").
			Needing("ready"),
		settings.Ruled("policy", settings.Choice(&g.policy, usual.PolicyWander, usual.PolicyCall, usual.PolicyRing,
			usual.PolicyTree), policyRule,
			"How the token comes to a host, and what the gate promises. wander and call are soft: they need no "+
				"roster, go on whoever is away, and may "+
				"let two hosts run at once after a failure. With wander, the token goes round from host to host, "+
				"and each host with a hook has its turn. "+
				"With call, it stays where it was last used, and comes to a host that calls it: in a quiet fleet of "+
				"any size a command waits for "+
				"some round trips, and while nobody waits, nothing is sent. ring and tree are strict: a host may run "+
				"only while a majority "+
				"of the roster permits it, so two "+
				"hosts never run at once, and without a majority nobody runs. A tree sends few messages if callers "+
				"are rare. A ring serves them in turn. All hosts must have the same policy."),
		settings.Row("min_interval", settings.Duration(&g.MinInterval), usual.MinInterval,
			"The least time between two runs on one host. In a gate without a hook it is 0s unless it is set."),
		settings.Ruled("retry_after", settings.Duration(&g.RetryAfter),
			"min_interval / 10, at least 1m; never above min_interval",
			"How long after a failed run the hook runs again. The time doubles with each further failure in a row, "+
				"up to min_interval. A hook "+
				"that exits with status 75 says \"not now\": that is no failure, and it runs again after "+
				"retry_after. A restart forgets "+
				"nothing of this. With 0s, a failed run counts like any other."),
		settings.Row("window", settings.Several((*[]window.Window)(&g.Windows), "WINDOW", usual.ParseWindow), "",
			"When the gate may run, as in \"Mon..Fri 22:00-06:00 Europe/Berlin\". Without days it is every day; "+
				"without a time zone it is the "+
				"host's zone. Can be repeated. Outside of all windows nothing starts, not even commands of callers, "+
				"except by \"wanderd run --outside-window\"; "+
				"the token still goes round. A "+
				"window that ends on the next day belongs to the day on which it starts. A window follows the clocks "+
				"of its zone: when they change, "+
				"that night is an hour longer or shorter. A window inside the skipped hour does not open; one inside "+
				"the repeated hour opens twice."),
		settings.Row("window_hard", settings.Bool(&g.WindowHard), "false",
			"Stop a run when its window ends, as hook_timeout does. Otherwise a run that has started in a window may "+
				"end after it.").
			Needing("window"),
		settings.Row("stop_after", settings.Count(&g.StopAfter, 0, wire.MaxFailures), "0",
			fmt.Sprintf("After this many failed runs in a row, on as many hosts, the gate is paused on all hosts "+
				"until \"wanderd resume\": 1 to %d. "+
				"So a release that fails everywhere stops at the first few hosts, and one bad host stops nobody. "+
				"Runs by \"wanderd run\" count too. 0 is never.", wire.MaxFailures)).As("NUMBER"),
		settings.Row("once", settings.Bool(&g.once), "false",
			"Run the hook on one host only in each min_interval, wherever the token finds one first: a success pauses "+
				"the gate on all hosts until min_interval is over, counted from the start of that run. A run that "+
				"fails lets the next host try. The pause holds up commands of callers too, and \"wanderd resume\" "+
				"ends it early. In a strict gate it is exact: a host that dies in its run counts as one that has "+
				"run. All hosts should have the same."),
		settings.Row("max_down", settings.Of(&g.MaxDown, settings.AsShare, "NUMBER|SHARE", downcount.Parse,
			plainLimit), "0",
			"A run starts only if fewer members than this are down: a number, or a share of the members as in "+
				"\"10%\", which is 1 at least. Down are members that have failed, and one that is away while its "+
				"grant is kept. In a strict gate those of the roster that are not here count. With several slots, the "+
				"hosts that may run under the other tokens count as down. A run in progress goes on. 0 is no limit."),
		settings.Row("first", settings.List(&g.Stages.First), "",
			fmt.Sprintf("The stages of the gate, as in first = [\"canary-*\", \"eu-*\"]: up to %d patterns over the "+
				"names of members, in which * stands for any text, ? for a character, and [ab] for one of "+
				"these. A member is in the stage of the first pattern that matches, or else in the last stage. "+
				"The hook of a member runs only when no member of an earlier stage is due, runs or soaks, and a "+
				"run that fails in any stage but the last pauses the gate on all hosts until \"wanderd resume\". "+
				"Commands of callers do not wait. All hosts must have the same.",
				stages.MostStages)).As("PATTERN,PATTERN,..."),
		settings.Row("first_wait", settings.Positive(&g.Stages.Wait), "1h",
			"How long a member that was due and is away holds up the later stages.").Needing("first"),
		settings.Row("soak", settings.Duration(&g.Aftercare.Soak), "0s",
			"How long the grant stays with a host after a run that has succeeded, as in soak = \"10m\": nobody else "+
				"starts meanwhile. It holds for commands of callers too, and the callers do not wait for it. It is "+
				"part of how long a run takes (op)."),
		settings.Row("after", settings.Command(&g.Aftercare.After, hook.Split), "",
			"A program and its arguments that says whether this host is healthy after a run that has succeeded. "+
				"Status 0 is yes, 75 is \"not yet\", and anything else is no: then the run counts as failed, for "+
				"stop_after, retry_after and the history. The agent runs it until the soak is over, and a last "+
				"time then. Nobody else starts before it says yes. One call may take 30s."),
		settings.Row("after_every", settings.Positive(&g.Aftercare.Every), "10s",
			"The time from an answer of after to the next call.").Needing("after"),
		settings.Row("after_timeout", settings.Positive(&g.Aftercare.Timeout), "5m",
			"How long after may go without a yes, from the end of the run, or from its last yes. Then the run counts "+
				"as failed, and the grant goes on.").Needing("after"),
		settings.Ruled("max_interval", settings.Positive(&g.MaxInterval), usual.MaxIntervalRule,
			"How long a host waits for the token before it assumes that the token is lost and makes a new one: the "+
				"last resort, when no "+
				"guardian is left. A shorter time causes more false alarms. Unless backups is 0, the value in force "+
				"is never below two measured "+
				"laps of the token, whatever you set. On call, the default is the longer of 3 × min_interval and "+
				"60 × skip."),
		settings.Ruled("op", settings.Positive(&g.Op), "the measured time of the runs",
			"How long one run typically takes. The measured estimate travels with the token, and is 4s until the "+
				"first run has ended. It is "+
				"not a limit: the load of the fleet and max_interval are computed from it."),
		settings.Row("skip", settings.Positive(&g.Skip), usual.Skip,
			"How long the token rests at a host that does not need it. A host also waits this long for another "+
				"host's answer."),
		settings.Ruled("hook_timeout", settings.Duration(&g.HookTimeout), "min_interval; without a hook, none",
			"How long one run may take. Then it gets SIGTERM, and SIGKILL ten seconds later. This holds for commands "+
				"of callers too. In a gate "+
				"without a hook, 0s means no limit."),
		settings.Row("walk", settings.Choice(&g.Walk, wander.Walks()...), usual.Walk(), usual.WalkHelp),
		settings.Row("slots", settings.Of(&g.slots, settings.AsShare, "NUMBER|SHARE", parseSlots, plainLimit),
			usual.Slots,
			fmt.Sprintf(
				"How many hosts may run at once, 1 to %d. The gate has this many tokens, and no host runs under two. "+
					"It may be a share of the members as in \"10%%\", rounded down, but 1 at least; the "+
					"number follows when the members have not changed for a minute. "+
					"All hosts must have the same.", wire.MaxSlots)),
		settings.Row("backups", settings.Count(&g.Backups, 0, guardian.MaxBackups), usual.Backups,
			fmt.Sprintf("How many guardians a token has, 0 to %d: the last holders keep a copy, and when the holder "+
				"dies, one of them "+
				"revives the token after about one and a half times skip. 0 is the plain paper: a lost token then "+
				"costs up to "+
				"max_interval. On call, guardians also queue the callers, and there has to be one. All hosts should "+
				"have the same number.", guardian.MaxBackups)).As("NUMBER"),
		settings.Row("on_lost", settings.Choice(&g.OnLost, soft.Finish, soft.Stop), usual.OnLost(),
			"What happens to a run when another host has revived its token because this host seemed dead. finish: "+
				"the run may finish, while "+
				"the other host may run too. stop: it is stopped at once, as after hook_timeout."),
		settings.Ruled("ask_before_run", settings.Bool(&g.AskBeforeRun),
			"true with trust = known_hosts, otherwise false",
			"Before each run, ask all other hosts whether one of them runs, and do not run this time if one does. So "+
				"a second token, left by a network "+
				"that was split or made up by a host that lies, brings no second run. It costs two datagrams for "+
				"each other host and a round trip, or "+
				"half a skip if a host does not answer. Fleets of more than 64 hosts do not ask. A gate on call asks "+
				"one guardian before each run, whatever its size."),
		settings.Row("roster", settings.List(&g.Roster), "",
			"The names of all members of a strict gate, the same on every host, as in roster = [\"a\", \"b\", "+
				"\"c\"]. More than half of them must be "+
				"up: three hosts can lose one, five can lose two. Change one name at a time. \"wanderd status\" "+
				"shows which key belongs to which name.").
			As("NAME,NAME,..."),
		settings.Row("request", settings.Choice(&g.request, ring.Requests()...), ring.Martin.String(),
			"What moves the token of a ring. With always, it moves all the time. With the others, members ask for "+
				"it, and send nothing at rest: "+
				"martin asks from neighbour to neighbour; q needs the fewest messages for one request, d the fewest "+
				"if many members ask."),
		settings.Row("kill_after", settings.Positive(&g.KillAfter), "5s",
			"How long a hook or command of a strict gate may take from SIGTERM to SIGKILL. It gets SIGTERM this long "+
				"before its lease ends. In "+
				"soft gates it is ten seconds, or what \"wanderd exec --kill-after\" says."),
		settings.Ruled("lease", settings.Positive(&g.lease), "1s to 2s more than kill_after needs: 8s for 5s",
			"For how long a majority permits a host of a strict gate to run; the host renews this as long as it "+
				"runs. After a power cut of the "+
				"holder nobody runs for this long. With a shorter lease, a shorter disturbance of the network stops "+
				"a run. All hosts must have the same."),
		settings.Row("keep", settings.Duration(&g.Config.Keep), "0s",
			"For a hook that reboots its host, as in keep = \"15m\": how long the others wait for "+
				"the host to be up again. The grant outlives the hook, the agent and the host, and is given back when "+
				"the host is up. The time begins again whenever the holder is heard, and a host that stays away for "+
				"longer loses its grant. "+
				"Whoever holds such a grant and loses its power keeps the others waiting, too. The first start of a "+
				"new strict gate takes this long. A soft gate needs one token and guardians for it (slots, backups). "+
				"With 0s, a grant ends with its agent. All hosts must have the same."),
		settings.Row("keep_over", settings.Choice(&g.keepOver, keepGiveUp, keepStandStill), keepGiveUp,
			"What happens if a host stays away for longer than keep. give-up: the others go on without it. "+
				"stand-still: the gate is paused on all hosts until \"wanderd resume\", with that host as the "+
				"reason. All hosts should have the same.").Needing("keep"),
	}
}

func plainLimit(l downcount.Limit) any {
	if l.Percent > 0 {
		return l.String()
	}
	return l.Count
}
