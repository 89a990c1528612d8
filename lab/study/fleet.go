package study

import "time"

// The time constants of the paper's table 2; a unit is a second.
const (
	Skip        = 1 * time.Second
	Op          = 4 * time.Second
	MinInterval = 600 * time.Second
	MaxInterval = 1800 * time.Second
)

// The sizes of the paper's fleets: "a nominal workload (N = 150)" and "an overload (N = 300)" (section 2).
const (
	Nominal  = 150
	Overload = 300
)
