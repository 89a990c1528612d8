package main

// longRoot, exampleRoot and afterRoot are parts of "wandersim --help": before the commands, the examples, and the rest.
const longRoot = `wandersim foresees what a fleet of wanderd does. It simulates the agents' own protocol code,
message by message, a hundred thousand times faster than real time, with faults and
without: a seed decides everything that is random.

"wandersim plan" answers an operator's question in one line: will this fleet keep up, and
with which constants? "wandersim sim" measures a fleet that you describe. "wandersim hunt"
looks for a seed that breaks a rule of a protocol, and "wandersim trace" shows such a run,
or any other, step by step.

"wanderd plan" and "wanderd sim" start this program.`

const exampleRoot = `  wandersim plan --members 400 --op 3m --every 1d
  wandersim sim --seeds 20 --plot intervals.svg
  wandersim hunt --for 10m
  wandersim trace --members 3 --for 30s`

const afterRoot = `
Environment:
  GOMAXPROCS
        How many cores to use; by default all.

Exit codes:
  0     done
  1     a seed breaks a rule, or any other error, such as a full disk
  64    usage: an unknown command or flag, or invalid parameters
  70    a defect of wandersim
  128+N signal N ended the simulation
`
