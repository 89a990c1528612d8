package main

// longExec and exampleExec are parts of "wanderd exec --help".
const longExec = `Run a command while this host holds a gate, as flock(1) does with a lock on one host.

The agent on this host grants the gate. While the command runs, no other command or hook
of the gate runs here or on any other host, as far as the gate's policy promises that:
see "wanderd --help". Callers on one host have their turns in the order in which they
asked; between two of them, the other hosts have theirs.

The command is a child of this one: it has its input and output, its terminal with
Ctrl-C, Ctrl-Z and fg, its directory, environment and user. It also gets the WANDERD_
variables that a hook gets. TERM, INT, HUP, QUIT, USR1, USR2 and WINCH are passed on.
Files beyond the standard ones are not.

The command is stopped (TERM, and KILL after --kill-after, to all that it has started)
when its time is over, when the grant is lost, and when this process is killed; if the
agent dies, KILL comes after a tenth of skip, in a strict gate after kill_after. What it
leaves behind when it ends is stopped, too, except daemons that have made a session of
their own (setsid). What runs as another user, as with sudo, cannot be stopped: say
"sudo wanderd exec" instead.

A command that Ctrl-Z has stopped keeps the gate. A caller that stands still when its
turn comes loses that turn, and asks again when it goes on.

Exit codes: that of the command, or 128 + N if signal N killed it. Otherwise

  75    not granted within --wait, or at once with --nonblock; -E sets another one
  70    the grant was lost, and the command was stopped
  124   the command was stopped after --timeout, or the gate's hook_timeout
  126   the command cannot be executed
  127   there is no such command
  128+N signal N came while it waited
  64    usage; a gate that this host has no part in
  69    no agent answers, or it is stopping; or the gate was removed by a reload
  77    this user may not ask: the agent's socket_group says who may
  78    the configuration is wrong`

const exampleExec = `  One backup at a time in the whole fleet, however many hosts start theirs at 03:00.
      wanderd exec --gate backup -- /usr/local/bin/backup.sh

  A systemd unit: RandomizedDelaySec= is not needed any more. Add a drop-in:
      [Service]
      ExecStart=
      ExecStart=/usr/bin/wanderd exec --wait 1h -- /usr/local/bin/backup.sh
      SuccessExitStatus=75

  Only if the gate can be had now; not for longer than ten minutes.
      wanderd exec -n --timeout 10m -- ./reindex.sh || echo "later"

  Several commands, and a pipe, under one grant.
      wanderd exec -- sh -c './fetch.sh && ./load.sh' | tee log`
