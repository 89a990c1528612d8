package main

// longRoot, exampleRoot and afterRoot are parts of "wanderd --help": before the flags, the examples, and the rest.
const longRoot = `wanderd runs a command on one host of a fleet at a time.

There is no server. An agent runs on every host. The agents find each other by gossip,
and pass one signed token round. The host that holds the token may run its command, the
hook, at most once in every min_interval. A gate is what protects one such operation;
each gate has its own token.

A gate is soft by default. Normally exactly one host runs its hook. After a failure two
may run at once, rarely and briefly. Hosts that are away never block the others: the
previous holders of the token are its guardians. If its holder dies, one of them revives
the token, after about one and a half times skip. If the guardians die too, a host makes
a new token after max_interval. Of two tokens the older survives.

A gate with policy = "tree" or "ring" and a roster (the names of its members) is strict:
a host may run only for as long as a majority of the roster permits it, and two never run
at once. Without a majority nobody runs.

wanderd does not promise mutual exclusion, and no lock service can: a process may be
paused at any moment and continue later. So every run gets a number that only rises,
WANDERD_SEQ. A resource that two hosts must never use at once should remember the highest
number and refuse lower ones. wanderd promises no run at a certain time, and nothing
against a host that has the secret and misbehaves.

A hook that fails runs again after retry_after, then after twice as long, up to
min_interval. Exit status 75 says "not now": that is no failure. The command in ready says
whether this host needs the hook; the agent runs it before the hook, without the token.

"wanderd pause" stops new runs on all hosts, until a given time or "wanderd resume". With
stop_after, failed runs in a row on that many hosts pause the gate too. "wanderd run" runs
the hook on this host as soon as possible.

On SIGHUP the agent reads its configuration file again: see "wanderd reload --help".
On SIGINT or SIGTERM it stops its hook, passes the token on and leaves. "wanderd drain",
or stop = "drain", lets the hook end by itself first. On a second signal, at least half a
second later, the agent exits at once.`

const exampleRoot = `  One host, with the defaults: the hook runs at once, then every ten minutes.
      wanderd --hook ./sync.sh

  A fleet. The secret is the same file on every host.
      wanderd keygen --secret /etc/wanderd/secret
      wanderd --hook ./sync.sh --secret-file /etc/wanderd/secret --join host1 --join host2

  A hook with arguments, and one that needs a shell.
      wanderd --hook "rsync -a --delete host0::tree /srv/tree" --min-interval 1h --op 40s
      wanderd --hook "sh -c './refresh.sh && ./reload.sh'"

  Several gates, each with its own token. A host takes part in the gates it configures.
      wanderd --config wanderd.toml

          min_interval = "10m"           # for all gates without a value of their own
          [[gate]]
          name = "sync"
          hook = ["./sync.sh", "--quiet"]
          [[gate]]
          name = "upgrade"
          hook = "./upgrade.sh"
          min_interval = "1d"
          op = "5m"

  The state of the agent; a demonstration.
      wanderd status
      wanderd demo`

const afterRoot = `
Configuration:
  A flag wins over its environment variable, the variable over the file (--config), the
  file over the default. "wanderd config show" prints each setting in force and its
  origin. Durations need a unit: 90s, 10m, 1h30m, 1d. Keys of the file are the names of
  the flags with underscores. A constant in a [[gate]] table wins over the one for all
  gates, also over a flag. Use either --hook or [[gate]] tables, not both.

Environment:
  WANDERD_MIN_INTERVAL, WANDERD_JOIN, ...
        Any flag, in capitals, with underscores; lists are separated by commas. An
        empty variable counts as not set.
  WANDERD_HELD, _GATE, _SLOT, _SEQ, _TOKEN, _MEMBER, _NAME, _MEMBERS, _DEADLINE
        Set for the hook: 1; the name of the gate; the slot of the token, from 0; the
        number of this run; the identity of the token and of this member, and its name;
        the number of members of the gate; and when the hook will be stopped, in Unix
        seconds.
  NO_COLOR
        No colours in the log.

Files, in the state directory:
  node_key            this member's identity, made at the first start
  gate-NAME.json      when the hook last ran, and under which number
  roster-NAME.json    which keys answer to the names of a strict gate's roster
  history-NAME.jsonl  the last 1,000 runs of the gate: see "wanderd history"
  wanderd.sock        the control socket: HTTP, GET /v1/status, /v1/members and /v1/history

Exit codes:
  0     done; or an agent was stopped, and has passed its tokens on
  1     any other error, such as an address in use or a full disk
  64    usage: an unknown command or flag, a wrong argument, or a simulation with
        invalid parameters
  69    no agent answers on the control socket
  70    a defect of wanderd
  75    exec: the gate was not granted in time; "wanderd exec --help" lists its other
        codes
  77    not permitted to use the control socket
  78    the configuration is wrong; the output lists all errors
  128+N signal N ended a simulation, or a second signal N ended an agent before it had
        left
`

// longExec and exampleExec are parts of "wanderd exec --help".
const longExec = `Run a command while this host holds a gate, as flock(1) does with a lock on one host.

The agent on this host grants the gate. While the command runs, no other command or hook
of the gate runs on any host, as far as the gate's policy promises that: see "wanderd
--help". Callers on one host get their turns in the order in which they asked. Between
two of them, the other hosts get their turns.

The command is a child of this process. It has the same input, output, directory,
environment and user, and the same terminal, with Ctrl-C, Ctrl-Z and fg. It also gets the
WANDERD_ variables that a hook gets. The signals TERM, INT, HUP, QUIT, USR1, USR2 and
WINCH are passed on. Open files beyond the standard three are not passed on.

The command is stopped when its time is over, when the grant is lost, and when this
process is killed. The command and everything it has started then get TERM, and KILL
after --kill-after. If the agent dies, KILL comes after a tenth of skip, in a strict gate
after kill_after. Processes that the command leaves behind when it ends are stopped too,
except daemons with a session of their own (setsid). What runs as another user, as with
sudo, cannot be stopped: use "sudo wanderd exec" instead.

A command that Ctrl-Z has stopped keeps the gate. A caller that is itself stopped when
its turn comes loses that turn, and asks again when it continues.

The exit code is that of the command, or 128 + N if signal N killed it. Otherwise

  75    not granted within --wait, or at once with --nonblock; -E sets another one
  70    the grant was lost, and the command was stopped
  124   the command was stopped after --timeout, or the gate's hook_timeout
  126   the command cannot be executed
  127   there is no such command
  128+N signal N came while it waited
  64    usage; or this host does not have the gate
  69    no agent answers; or it is stopping; or a reload has removed the gate
  77    this user may not use the control socket: see socket_group in "wanderd --help"
  78    the configuration is wrong`

const exampleExec = `  One backup at a time in the whole fleet, however many hosts start theirs at 03:00.
      wanderd exec --gate backup -- /usr/local/bin/backup.sh

  A systemd unit, with a drop-in. RandomizedDelaySec= is not needed any more.
      [Service]
      ExecStart=
      ExecStart=/usr/bin/wanderd exec --wait 1h -- /usr/local/bin/backup.sh
      SuccessExitStatus=75

  Only if the gate is free now, and for at most ten minutes.
      wanderd exec -n --timeout 10m -- ./reindex.sh || echo "later"

  Several commands, and a pipe, under one grant.
      wanderd exec -- sh -c './fetch.sh && ./load.sh' | tee log`

const longSim = `Simulate a fleet with faults. The simulation runs the agent's protocol code, message by
message, a hundred thousand times faster than real time.

Try the constants of a fleet before you deploy it. You see how busy the fleet is, how long
its members wait, how often two run at once, and how it recovers from faults. The seed
determines all random choices, so you can repeat a run on any machine.

The output:

  busy, overlap    the share of the time with at least one operation, and with two or
                   more
  interval         between the starts of two operations of one member
  tokens           made: new ones, also when a token only seemed lost; revived: by a
                   guardian; removed: because there was an older one; lost: with a
                   message or a member
  recovery         from the loss of the last token until there is again one token, and
                   no other for max_interval

On a terminal it shows the remaining time. Ctrl-C ends it, and prints the figures so
far.`

const exampleSim = `  The fleet of the paper; takes a second.
      wanderd sim --walk random --backups 0 --members 150 --op 4s --min-interval 600s

  Twenty seeds, with confidence intervals and a plot.
      wanderd sim --seeds 20 --plot intervals.svg

  The effect of guardians, if the token is lost every six hours.
      wanderd sim --lose-token-every 6h --backups 2
      wanderd sim --lose-token-every 6h --backups 0

  A lossy network, members that crash, and a partition after a day.
      wanderd sim --loss 1% --jitter 5ms --crash-every 7d --down-for 10m \
          --partition-at 1d --partition-for 2h --partition-share 30%

  A ring that elects a leader, while some members crash.
      wanderd sim --policy election --members 40 --backups 8 --crash-every 10m \
          --duration 1m

  The same from a file, for scripts.
      wanderd sim --scenario fleet.toml --json | jq .overlap

          members = 400
          op = "3m"
          min_interval = "1d"
          loss = "1%"`
