package main

// longRoot, exampleRoot and afterRoot are parts of "wanderd --help": before the flags, the examples, and the rest.
const longRoot = `wanderd runs a command on one host of a fleet at a time.

An agent runs on every host. The agents find each other by gossip, and a signed
token wanders between them; the host that holds it may run its hook, at most once
in every min_interval. There is no server.

A gate is soft. Normally exactly one host runs its hook. Overlaps are rare and short,
and hosts that are away never block the others: the previous holders of the token guard
it, and if its holder dies, one of them revives it after about one and a half times
skip. If they die too, a new token is made after max_interval. Of two tokens the older
survives.

A gate with policy = "tree" or "ring" and a roster is strict: a majority of the roster
lends each run its time, and two never run at once. Without a majority nobody runs.

wanderd does not promise mutual exclusion, and no lock service can: a process may be
paused at any moment and continue later. So every run gets a number that only rises,
WANDERD_SEQ. A resource that must never be used by two hosts remembers the highest
number and refuses lower ones.

A hook that fails runs again after retry_after, twice as long after each further
failure, up to min_interval. Exit status 75 says "not now": that is no failure. With
ready, a host is asked first, and without the token, whether it needs the hook.

"wanderd pause" stops new runs on all hosts, until a time or "wanderd resume"; with
stop_after, so many hosts that fail in a row do the same. "wanderd run" runs the hook
here and now.

It does not promise a run at a certain time, or anything against a host that has the
secret and misbehaves.

On SIGHUP the agent reads its configuration file again: see "wanderd reload --help".
On SIGINT or SIGTERM it stops its hook, passes the token on and leaves;
"wanderd drain", or stop = "drain", lets the hook end by itself first.
On a second signal, half a second later or more, it exits at once.`

const exampleRoot = `  One host, every default in place: the hook runs at once, then every ten minutes.
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
  file over the default. "wanderd config show" prints the settings in force and their
  origin. Durations need a unit: 90s, 10m, 1h30m, 1d. Keys of the file are the names of
  the flags with underscores. A constant in a [[gate]] table wins over the one for all
  gates, also over a flag; --hook and [[gate]] tables exclude each other.

Environment:
  WANDERD_MIN_INTERVAL, WANDERD_JOIN, ...
        Any flag, in capitals, with underscores; lists are separated by commas. An
        empty variable counts as not set.
  WANDERD_HELD, _GATE, _SLOT, _SEQ, _TOKEN, _MEMBER, _NAME, _MEMBERS, _DEADLINE
        Set for the hook: 1; the name of the gate; the slot of the token, from 0; the
        number of this run; the identity of the token and of this member, and its name;
        the number of members of the gate; and the time of the timeout, in Unix seconds.
  NO_COLOR
        No colours in the log.

Files, in the state directory:
  node_key            this member's identity, made at the first start
  gate-NAME.json      when the hook last ran, and under which number
  roster-NAME.json    which keys answer to the names of a strict gate's roster
  history-NAME.jsonl  the last 1,000 runs of the gate: see "wanderd history"
  wanderd.sock        the control socket: HTTP, GET /v1/status, /v1/members and /v1/history

Exit codes:
  0     done; or an agent was stopped and has left in order
  1     any other error, such as an address in use or a full disk
  64    usage: an unknown command or flag, a superfluous argument, or a simulation with
        invalid parameters
  69    no agent answers on the control socket
  70    a defect of this program
  75    exec: the gate was not granted in time; "wanderd exec --help" lists its others
  77    not permitted to use the control socket
  78    the configuration is wrong; the output lists all errors
  128+N signal N ended a simulation, or came as the second one before the agent had
        left
`
