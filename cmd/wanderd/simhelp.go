package main

const longSim = `Simulate a fleet, faults and all: the very same machines as in the agent, message by
message, a hundred thousand times faster than they live.

Before you deploy a fleet, its constants can be tried: how busy it will be, how long
its members wait, how often two run at once, and how it gets over what goes wrong.
Everything that is left to chance is decided by the seed, so a run can be repeated,
on any machine.

What is printed:

  busy, overlap    the share of the time with at least one operation, and with two or
                   more
  interval         between the starts of two operations of one member
  tokens           made: also those that were made because one seemed lost; revived:
                   taken up again by a member that guarded one; removed: because an
                   older one was met; lost: with a message, or a member
  recovery         from the loss of the last token until there was again one token,
                   and no other for max_interval

It shows on a terminal how long it will still take. Ctrl-C ends it; what has been
measured by then is printed.`

const exampleSim = `  The fleet of the paper; a second of your time.
      wanderd sim --walk random --backups 0 --members 150 --op 4s --min-interval 600s

  How sure are the figures? Twenty seeds, with confidence intervals and a plot.
      wanderd sim --seeds 20 --plot intervals.svg

  What guardians are worth, where the token is lost every six hours.
      wanderd sim --lose-token-every 6h --backups 2
      wanderd sim --lose-token-every 6h --backups 0

  A bad network, members that crash, and a partition after a day.
      wanderd sim --loss 1% --jitter 5ms --crash-every 7d --down-for 10m \
          --partition-at 1d --partition-for 2h --partition-share 30%

  The same from a file, for scripts.
      wanderd sim --scenario fleet.toml --json | jq .overlap

          members = 400
          op = "3m"
          min_interval = "1d"
          loss = "1%"`
