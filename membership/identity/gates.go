package identity

// MaxGates is the largest number of gates of one agent: their tags must fit into what a member announces.
const MaxGates = 15
