package holds

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Deferral is a run that was put off, because a gate that it needs did not come. Meanwhile its host is not ready: its
// token goes on. The zero value is none.
type Deferral struct {
	is    bool
	why   string
	until policy.Time
}

// usually is for how long runs are put off that have waited for less, at most.
const usually = time.Minute

// Begin puts the runs of a gate off, for half a time up to the whole of it: for as long as the run has waited for its
// gates, or a minute, if it has waited for less; but no longer than a run may wait. The times of two hosts differ, so
// that hosts that have waited for each other do not meet again and again.
func (d *Deferral) Begin(now policy.Time, why error, waited, within time.Duration, from policy.Entropy) {
	half := max(min(max(waited, usually), within)/2, 0)
	d.is, d.why = true, why.Error()
	d.until = now.Add(half + time.Duration(policy.Draw(from)%uint64(half+1)))
}

// Why is why no run may start yet; empty if one may.
func (d *Deferral) Why(now policy.Time) string {
	if !d.is || now >= d.until {
		return ""
	}
	return "put off for " + d.until.Sub(now).Round(time.Second).String() + ": " + d.why
}

// Is reports whether a run is put off, or was until a moment ago and nobody has noticed that.
func (d *Deferral) Is() bool { return d.is }

// Until returns until when runs are put off; Never if none is.
func (d *Deferral) Until() policy.Time {
	if !d.is {
		return policy.Never
	}
	return d.until
}

// End lets runs start again.
func (d *Deferral) End() { *d = Deferral{} }
