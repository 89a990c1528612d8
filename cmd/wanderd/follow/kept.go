package follow

import (
	"slices"

	"github.com/wanderd/wanderd/agent/control"
)

// mostAway is how many hosts that are away are read of one member: more than a gate has tokens.
const mostAway = 64

// Kept returns the grant of a host that outlives it; nil if it has none, or has not answered.
func Kept(g *control.Gate) *control.Kept {
	if g == nil {
		return nil
	}
	if i := slices.IndexFunc(g.Kept, func(k control.Kept) bool { return k.Self }); i >= 0 {
		return &g.Kept[i]
	}
	return nil
}

// Away returns the hosts that are away under a kept grant, or are back and still have it, as the others say: of what
// they say of one host, since when it is away first, and until when it is waited for last.
func Away(rows []Row) (away []control.Kept) {
	for i := range rows {
		if rows[i].Gate == nil {
			continue
		}
		list := rows[i].Gate.Kept
		for _, k := range list[:min(len(list), mostAway)] {
			if k.Self || k.AwaySince.IsZero() {
				continue
			}
			at := slices.IndexFunc(away, func(o control.Kept) bool { return o.Member == k.Member && o.Slot == k.Slot })
			if at < 0 {
				away = append(away, k)
				continue
			}
			o := &away[at]
			if k.AwaySince.Before(o.AwaySince) {
				o.AwaySince = k.AwaySince
			}
			if k.Until.After(o.Until) {
				o.Until = k.Until
			}
			if o.BackSince.IsZero() {
				o.BackSince = k.BackSince
			}
		}
	}
	return away
}
