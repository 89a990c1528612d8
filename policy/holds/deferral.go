package together

import (
	"math/rand/v2"
	"time"
)

// Deferral is a run that was put off, because a gate that it needs did not come. Meanwhile its host is not ready: its
// token goes on. The zero value is none.
type Deferral struct {
	why   string
	until time.Time
}

// Begin puts the runs of a gate off: for half the time that a run waits for other gates up to the whole time. The
// times of two hosts differ, so that hosts that have waited for each other do not meet again and again.
func (d *Deferral) Begin(why error, within time.Duration) {
	d.why, d.until = why.Error(), time.Now().Add(within/2+rand.N(within/2+1))
}

// Why is why no run may start yet; empty if one may.
func (d *Deferral) Why() string {
	if d.until.IsZero() || !time.Now().Before(d.until) {
		return ""
	}
	return "put off for " + time.Until(d.until).Round(time.Second).String() + ": " + d.why
}

// Is reports whether a run is put off, or was until a moment ago and nobody has noticed that.
func (d *Deferral) Is() bool { return !d.until.IsZero() }

// Left is for how long runs are put off.
func (d *Deferral) Left() time.Duration { return max(time.Until(d.until), 0) }

// End lets runs start again.
func (d *Deferral) End() { *d = Deferral{} }
