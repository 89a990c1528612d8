package reduce

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wanderd/wanderd/sim"
)

// Limits are what must hold in a scenario that no seed has drawn, each in words, and whether it does.
type Limits map[string]bool

// Check returns what does not hold.
func Check(limits ...Limits) error {
	for _, some := range limits {
		for _, text := range slices.Sorted(maps.Keys(some)) {
			if !some[text] {
				return fmt.Errorf("must hold, and does not: %s; change the scenario", text)
			}
		}
	}
	return nil
}

// World is what the scenarios of all families have.
type World struct {
	Members int
	// Skip is that of the gate. It is no shorter than the time between two faults may be.
	Skip, Duration time.Duration
	Network        *sim.Network
	Membership     *sim.Membership
	Hook           *sim.Hook
	Disk, Slow     *sim.Disk
	Demand         *sim.Demand
	Operators      *sim.Operators
	Ready          *sim.Ready
	Faults         *sim.Faults
}

// mostFaults bounds how often a fault may be expected within the duration.
const mostFaults = 250

// Limits returns what must hold in a world of any family: what is drawn lies well within it.
func (w *World) Limits() Limits {
	f, n, h, m := w.Faults, w.Network, w.Hook, w.Membership
	g := &f.Groups
	all := Limits{
		fmt.Sprintf("there are from 1 to %d members", mostCount): 1 <= w.Members && w.Members <= mostCount,
		"the duration is more than 0":                            w.Duration > 0,
		"directives take time to be heard of, and longer after a crash and a cut": *w.Operators == sim.Operators{} ||
			0 < m.GossipAfter && m.GossipAfter <= m.DetectAfter && m.DetectAfter <= m.RejoinAfter,
		"no share is more than 1": shares(
			n.Loss, n.Duplicate, n.Late, n.Broken, f.MidStep, f.HostShare, f.ForgetShare, f.SleepShare, f.OneWayShare,
			f.MuteShare, f.Partition.Share, g.StopShare, h.Spread, h.Fails, h.Hangs, h.NotNow, h.Deaf, h.Late,
			h.Reboots.Share, h.Reboots.Late, w.Disk.Slow, w.Disk.Fails, w.Disk.Hangs, w.Slow.Slow, w.Slow.Fails,
			w.Slow.Hangs, w.Demand.Queued, w.Demand.Withdrawn, w.Operators.HereShare, w.Ready.No,
		),
		"some datagrams arrive, some waits go on, some hosts are ready": n.Loss < 1 && w.Demand.Withdrawn < 1 &&
			w.Ready.No < 1,
		"some members are not distant": n.Distant < w.Members,
		fmt.Sprintf("the network has at most %d parts", sim.MaxParts): f.CutParts == 0 ||
			2 <= f.CutParts && f.CutParts <= sim.MaxParts,
		"there is a rack, and a member in each": g.RackEvery == 0 ||
			1 <= g.Racks && g.Racks <= w.Members,
		"after a restart, less than half of the members stay away": f.Restart.Away < 0.5,
		"one member has no partition":                              f.Partition.For == 0 || w.Members > 1,
		"an operation takes time, and ends":                        h.Takes > 0 && (h.Hangs == 0 || h.Timeout > 0),
		"a host that is asked takes time to answer, and until it is asked again": *w.Ready == sim.Ready{} ||
			w.Ready.Takes > 0 && w.Ready.Timeout > 0 && w.Ready.Again > 0,
	}
	often := fmt.Sprintf("a fault happens at most %d times within the duration, or once in a skip", mostFaults)
	all[often] = true
	for _, every := range []time.Duration{
		f.CrashEvery, f.PauseEvery, f.LeaveEvery, f.CutEvery, f.DeafEvery, f.LoseTokenEvery, f.ForgeEvery,
		f.RenewEvery, g.RackEvery, g.StopEvery, w.Operators.Every,
	} {
		all[often] = all[often] && (every == 0 || every >= min(w.Skip, w.Duration/mostFaults))
	}
	return all
}

func shares(all ...float64) bool {
	for _, x := range all {
		if x > 1 {
			return false
		}
	}
	return true
}
