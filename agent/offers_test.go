package agent

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

func TestATokenIsOldWhenItsSenderRepeatsItNoMore(t *testing.T) {
	const skip = time.Second
	o, after := newOffers(), offeredFor(wander.Settings{Skip: skip}.SaveWithin())
	if after < 16*skip {
		t.Errorf("a Token is accepted for %s, and is repeated for 16 timeouts", after)
	}
	if o.isOld(7, 0, after) {
		t.Error("a Token that never came is old")
	}
	o.saw(7, 0)
	if o.isOld(7, second*16, after) {
		t.Error("a Token that is repeated is old")
	}
	o.saw(7, second*16)
	for _, later := range []int{60, 3600, 24 * 3600} {
		if !o.isOld(7, second*policy.Time(later), after) {
			t.Errorf("a Token that is played back after %d s is not old", later)
		}
	}
}

func TestHandoffsOfHoursAreRemembered(t *testing.T) {
	o, forgotten := newOffers(), 0
	const count = offerRows * recentWays / 4
	for i := range wire.Exchange(10 * count) {
		o.saw(i*0x9e3779b97f4a7c15|1, 0)
	}
	for i := range wire.Exchange(count) {
		if !o.isOld((10*count-1-i)*0x9e3779b97f4a7c15|1, second, 0) {
			forgotten++
		}
	}
	if forgotten > count/50 {
		t.Errorf("of the last %d handoffs, %d are forgotten", count, forgotten)
	}
}
