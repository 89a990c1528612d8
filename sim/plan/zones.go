package plan

import (
	"fmt"
	"math"
)

// Zones are bounds of what per_zone costs. They are no measurement: only a simulated release has zones, the other
// figures are those of tokens that never come to a busy zone.
//
// A token that comes to a host whose zone is busy waits there. At best that never happens, and slots hosts run at once.
// At worst all tokens wait in one zone, and only per_zone hosts run at once; fewer never do while somebody waits.
type Zones struct {
	// Hosts is how many hosts the largest zone has, and Load the share of time for which each run that it may have is
	// in use, if all its hosts run every Every.
	Hosts int     `json:"hosts"`
	Load  float64 `json:"load"`
	// Least and Most are the bounds of a round, in seconds: all members run once, beginning at the same time.
	Least float64 `json:"least_round_s"`
	Most  float64 `json:"most_round_s"`
}

func (w *Request) checkZones(demand func(ok bool, format string, args ...any)) {
	if w.Zones == 0 && w.PerZone == 0 {
		return
	}
	demand(w.Zones > 0 && w.PerZone > 0, "zones and per_zone need each other")
	demand(w.Zones >= 0 && w.Zones <= max(w.Members, minMembers), "zones is %d: 1 to %d, the number of members",
		w.Zones, w.Members)
	demand(w.PerZone >= 0 && (w.PerZone < w.slots() || w.Zones == 0),
		"per_zone is %d, and slots is %d: it does not matter unless it is lower; raise slots, or leave it out",
		w.PerZone, w.slots())
	most := min(w.Zones, maxMembers) * min(w.PerZone, maxMembers)
	demand(w.Zones <= 0 || w.PerZone <= 0 || w.slots() <= most,
		"slots is %d, and %d zones have room for %d runs: the other tokens would always wait; lower slots to %d",
		w.slots(), w.Zones, most, most)
}

// zonesOf returns the bounds of a request with zones, and nil for one without.
func zonesOf(w *Request) *Zones {
	if w.Zones == 0 {
		return nil
	}
	z := &Zones{Hosts: (w.Members + w.Zones - 1) / w.Zones}
	z.Load = float64(z.Hosts) * w.Op.Seconds() / (w.Every.Seconds() * float64(w.PerZone))
	z.Least = max(w.leastRound(), math.Ceil(float64(z.Hosts)/float64(w.PerZone))*w.Op.Seconds())
	one := *w
	one.Slots, one.SlotsShare = w.PerZone, 0
	z.Most = one.leastRound()
	return z
}

// suffice reports whether a zone has time for all runs of its hosts.
func (z *Zones) suffice() bool { return z == nil || z.Load < 1 }

func (z *Zones) text(w *Request) string {
	return fmt.Sprintf("%d zones of up to %d hosts, of each at most %d at once: the load of a zone is %.2f. A token "+
		"that comes to a busy zone waits there, for up to with_wait. But for a release, the figures below are without "+
		"that, which is the best case; in the worst all tokens wait in one zone, and %d run at once.", w.Zones,
		z.Hosts, w.PerZone, z.Load, w.PerZone)
}
