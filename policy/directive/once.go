package directive

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Once: one run in each interval for the whole fleet, and not one for each member. Whoever has run with success pauses
// the gate until the interval is over, counted from the start of its run. It gives that directive before its machine
// hears of the end of the run. So the token never goes on without it, and nobody who gets the token runs. If the token
// and all that have heard its holder since are lost at once, the next member runs in the same interval: a run is lost
// to nobody, but may be done twice.
//
// A run that fails changes nothing: the next member tries. A pause of an operator that lasts longer stays.

// Once sets the interval in which the gate's own operation succeeds at most once; zero means that each member has its
// own.
func (l *Layer) Once(interval time.Duration) { l.interval = interval }

// restOfInterval pauses the gate for what is left of the interval, after a run that has succeeded here.
func (l *Layer) restOfInterval(wall int64, ev *policy.Event) {
	if l.interval == 0 || ev.Denied || !l.own && !ev.ByHand || ev.Outcome != policy.Succeeded {
		return
	}
	end := min(l.began, wall) + int64(l.interval) // The clock may have been set back meanwhile.
	if end > wall && end > l.directive.Until {
		l.directive = l.Next(wall, end)
	}
}
