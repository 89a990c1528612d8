package main

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

A token that is called, a ring and a tree have figures of their own: above all obtaining,
the time from a request to its operation.

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

  A fleet whose members run for callers: how long do these wait?
      wanderd sim --policy call --members 150 --demand 20m --duration 1d

  A ring that elects a leader, while some members crash.
      wanderd sim --policy election --members 40 --backups 8 --crash-every 10m \
          --duration 1m

  The same from a file, for scripts.
      wanderd sim --scenario fleet.toml --json | jq .overlap

          members = 400
          op = "3m"
          min_interval = "1d"
          loss = "1%"`
