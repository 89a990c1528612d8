package main

// longExec and exampleExec are parts of "wanderd exec --help".
const longExec = `Run a command while this host holds a gate, as flock(1) does with a lock on one host.

The agent on this host grants the gate. While the command runs, no other command or hook
of the gate runs on any host, as far as the gate's policy promises that: see "wanderd
--help". Callers on one host get their turns in the order in which they asked. Between
two of them, the other hosts get their turns. With several --gate the command runs when
this host holds all of them, and is stopped if it loses one.

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
