package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Figure 2: K1loss = 1.5, K2loss = 0.05, here as the fractions by which Δgen rises and falls.
const (
	raiseFraction = 2
	lowerFraction = 20
)

// silence is the time since which no token has come, and how long it must last before the token counts as lost.
type silence struct {
	// raised is how far false alarms have raised Δgen above Δmax, as a share of Δmax.
	raised float64
	// since is when the last token was here, or was seen by another member. In the second case told is what the other
	// member saw, and holdOff is how much longer this member waits.
	since   policy.Time
	holdOff time.Duration
	told    sighting
	// gaveWay is how often this member has given way in this silence. unsure is how often answers left it unsure
	// whether the token is certainly lost, since its view changed.
	gaveWay, unsure uint8
}

// regenerates reports whether this member makes a new token after a silence. It does not while it waits for a fleet
// that it has never seen, or if the token never comes here.
func (l *loss) regenerates(o *outlook) bool {
	if _, kept := o.guardian.KeptUntil(); kept {
		return false
	}
	return !l.first.closed && o.walk.comesHere() && (o.cfg.Rejoins || !l.waitsAlone(o.cfg))
}

func (l *loss) regenerateAt(o *outlook) policy.Time {
	return o.unlessArriving(l.silence.since.Add(l.regenerateAfter(o)).Add(l.silence.holdOff).Add(o.cfg.Keep))
}

// begin begins a silence: a token was here just now, or this member has heard from its holder.
func (l *loss) begin(now policy.Time) {
	l.silence.since, l.silence.holdOff, l.silence.told, l.silence.gaveWay = now, 0, sighting{}, 0
}

// beginIf begins a silence if the token visits this member only from now on.
func (l *loss) beginIf(visitsNow bool, now policy.Time) {
	if visitsNow {
		l.begin(now)
	}
}

// regenerateAfter is Δgen. Only false alarms raise it above Δmax, by a share of Δmax. So Δgen falls when Δmax does:
// when the operation has become shorter, or members have left.
func (l *loss) regenerateAfter(o *outlook) time.Duration {
	least := o.maxInterval()
	if l.silence.raised == 0 {
		return least
	}
	above := math.Round(l.silence.raised * float64(least))
	if above >= float64(math.MaxInt64-least) {
		return math.MaxInt64
	}
	return least + time.Duration(above)
}

// raiseRegenerateAfter raises Δgen "at a constant rate (50% in our simulation) each time the component needs to
// regenerate a new token" (section 5.1), to the end of the range.
func (l *loss) raiseRegenerateAfter(o *outlook) {
	after := l.regenerateAfter(o)
	l.setRegenerateAfter(o, after+min(after/raiseFraction, math.MaxInt64-after))
}

// lowerRegenerateAfter: Δgen falls by "a small fraction (5% in our simulation) of the difference from Δmax each time
// the component receives a token" (section 5.1).
func (l *loss) lowerRegenerateAfter(o *outlook) {
	after := l.regenerateAfter(o)
	l.setRegenerateAfter(o, after-(after-o.maxInterval())/lowerFraction)
}

func (l *loss) setRegenerateAfter(o *outlook, after time.Duration) {
	least := o.maxInterval()
	l.silence.raised = float64(after-least) / float64(least)
}
