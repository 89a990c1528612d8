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
  WANDERD_HELD, _GATE, _SLOT, _SEQ, _TOKEN, _MEMBER, _NAME, _MEMBERS, _DEADLINE, _SOCKET
        Set for the hook: 1; the name of the gate; the slot of the token, from 0; the
        number of this run; the identity of the token and of this member, and its name;
        the number of members of the gate; when the hook will be stopped, in Unix
        seconds; and the agent's control socket.
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
