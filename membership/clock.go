package membership

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const (
	// maxClockOffset is how far another member's clock may be off before somebody is told. Token precedence follows birth
	// stamps, so a wrong clock favours or disfavours its tokens; it endangers nothing else.
	maxClockOffset = time.Minute
	clockWarnEvery = 10 * time.Minute
)

// clockWatch compares wall clocks by the answers to memberlist's probes.
type clockWatch struct {
	now  func() time.Time
	log  zerolog.Logger
	warn throttle
	off  atomic.Uint64
}

func newClockWatch(now func() time.Time, log zerolog.Logger) *clockWatch {
	return &clockWatch{now: now, log: log, warn: throttle{every: clockWarnEvery}}
}

// stamp is the wall clock in nanoseconds of Unix time, big-endian.
func (c *clockWatch) stamp() []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(c.now().UnixNano()))
}

// heard takes the stamp that a member's answer carried. The answer was made half a round trip ago, if both ways are
// equally long; if not, the estimate is wrong by less than the round trip.
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
	// The throttle goes by time.Now, whose monotonic reading a wrong or stepping wall clock does not disturb.
	if ok, _ := c.warn.allow(time.Now()); ok {
		c.log.Warn().Str("name", name).Stringer("addr", addr).Str("offset", signed(offset.Round(time.Second))).
			Msg("a member's clock differs from this one's by more than a minute: " +
				"see that NTP runs on both hosts (timedatectl status)")
	}
}

func signed(d time.Duration) string {
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}
