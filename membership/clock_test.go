package membership

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestClockThatIsAnHourOffIsWarnedAboutOnceInAWhile(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := []*host{f.start(1), f.start(2), f.start(3, func(c *Config) {
			c.Now = func() time.Time { return time.Now().Add(time.Hour) }
		})}
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		f.within(10*time.Second, "host1 warns", func() bool {
			return len(hosts[0].logs.With("warn", "host3", "+1h0m0s", "NTP")) == 1
		})
		time.Sleep(clockWarnEvery / 2)
		if lines := hosts[0].logs.With("warn", "NTP"); len(lines) != 1 || hosts[0].Stats().Clock < 10 {
			t.Errorf("warned: %s; counted: %+v", lines, hosts[0].Stats())
		}
		if lines := hosts[2].logs.With("warn", "-1h0m0s"); len(lines) != 1 {
			t.Errorf("host3 warned: %s", lines)
		}
	})
}

func TestClockIsMeasuredInTheMiddleOfTheRoundTrip(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		theirs time.Time
		rtt    time.Duration
		off    bool
	}{
		{now, 0, false},
		{now.Add(time.Minute), 0, false},
		{now.Add(time.Minute + time.Second), 0, true},
		{now.Add(-time.Minute - time.Second), 0, true},
		// A delay of a minute is no clock error: the answer was made half a round trip ago, and the error is below the
		// round trip.
		{now.Add(-time.Minute - time.Second), 2 * time.Minute, false},
		{time.Unix(0, math.MinInt64), 0, true},
		{time.Unix(0, math.MaxInt64), 0, true},
	} {
		w := newClockWatch(func() time.Time { return now }, zerolog.Nop())
		w.heard("x", netip.AddrPort{}, c.rtt, binary.BigEndian.AppendUint64(nil, uint64(c.theirs.UnixNano())))
		if off := w.off.Load() == 1; off != c.off {
			t.Errorf("%v, rtt %v: off is %t", c.theirs.Sub(now), c.rtt, off)
		}
	}
	w := newClockWatch(func() time.Time { return now }, zerolog.Nop())
	if w.heard("x", netip.AddrPort{}, 0, []byte("short")); w.off.Load() != 0 {
		t.Error("a stamp of five bytes was understood")
	}
}
