package identity

// MaxGates is the largest number of gates of one agent: their tags must fit into what a member announces.
const MaxGates = 15

// MaxOnDemand is the largest number of gates that one agent has because somebody has named them.
const MaxOnDemand = 64
