package membership

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/timing"
)

const (
	// maxClockOffset is how far another member's clock may be off without a warning. Token precedence follows birth
	// stamps, so a wrong clock favours or disfavours that member's tokens; it endangers nothing else.
	maxClockOffset = time.Minute
	clockWarnEvery = 10 * time.Minute
)

// clockWatch compares the members' wall clocks. Each answer to a probe of memberlist carries the time of one.
type clockWatch struct {
	now  func() time.Time
	log  zerolog.Logger
	warn timing.Throttle
	off  atomic.Uint64
}

func newClockWatch(now func() time.Time, log zerolog.Logger) *clockWatch {
	return &clockWatch{now: now, log: log, warn: timing.Throttle{Every: clockWarnEvery}}
}

// stamp returns the wall clock in nanoseconds of Unix time, big-endian.
func (c *clockWatch) stamp() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(c.now().UnixNano()))
}

// heard handles the stamp in a member's answer. It assumes that the answer was made half a round trip ago; the error of
// this assumption is less than the round trip.
func (c *clockWatch) heard(name string, addr netip.AddrPort, rtt time.Duration, stamp []byte) {
	if len(stamp) < 8 {
		return
	}
	theirs := time.Unix(0, int64(binary.BigEndian.Uint64(stamp)))
	offset := theirs.Sub(c.now().Add(-rtt / 2))
	if offset.Abs()-max(rtt, 0) <= maxClockOffset {
		return
	}
	c.off.Add(1)
	// The throttle uses time.Now: a wrong or stepping wall clock does not change its monotonic reading.
	if ok, _ := c.warn.Allow(time.Now()); ok {
		c.log.Warn().Str("name", name).Stringer("addr", addr).Str("offset", signed(offset.Round(time.Second))).
			Msg("a member's clock differs from this one's by more than a minute: " +
				"check that NTP runs on both hosts (timedatectl status)")
	}
}

func signed(d time.Duration) string {
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}
