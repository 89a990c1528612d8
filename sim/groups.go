package sim

import "time"

// Groups are faults of several members at one moment. Each of these members starts again at a time of its own.
type Groups struct {
	// Racks is the number of racks: member i stands in rack i mod Racks. RackEvery is the mean time between two power
	// cuts, each in one rack. RackFor is the mean time until a host is back.
	Racks              int
	RackEvery, RackFor time.Duration
	// StopEvery is the mean time between two moments in which some members are told to leave. StopShare is the share of
	// these members. StopFor is the mean time until one of them starts again.
	StopEvery, StopFor time.Duration
	StopShare          float64
}

// rack cuts the power of one rack.
func (f *faults) rack() {
	t := &f.what.Groups
	for i := f.dice.IntN(t.Racks); i < len(f.c.members); i += t.Racks {
		f.c.PowerCut(i)
		f.startAgain(i, f.around(t.RackFor))
	}
}

// stopTogether tells some members to leave.
func (f *faults) stopTogether() {
	t := &f.what.Groups
	for _, i := range f.dice.Perm(len(f.c.members))[:int(t.StopShare*float64(len(f.c.members)))] {
		f.c.Leave(i)
		f.startAgain(i, f.around(t.StopFor))
	}
}

// Leaving reports whether member i, which must be up, was told to leave.
func (c *Cluster) Leaving(i int) bool { return c.members[i].leaving }
