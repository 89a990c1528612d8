package agent

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// drops counts dropped datagrams by reason, and warns at most once a minute about reasons with a remedy. It is safe for concurrent
// use.
type drops struct {
	log    zerolog.Logger
	counts []atomic.Uint64
	// said is the time of the last warning, last that of the last drop, in nanoseconds of Unix time. Both, and from, are set only
	// for reasons with a remedy.
	said, last []atomic.Int64
	// from is the source address in the last warning.
	from []atomic.Pointer[netip.AddrPort]
}

func newDrops(log zerolog.Logger) *drops {
	n := len(wire.Drops()) + 1
	return &drops{
		log: log, counts: make([]atomic.Uint64, n), said: make([]atomic.Int64, n),
		last: make([]atomic.Int64, n), from: make([]atomic.Pointer[netip.AddrPort], n),
	}
}

func (d *drops) add(why wire.Drop, src netip.AddrPort) {
	d.addWith(why, src, func(*zerolog.Event) {})
}

// addForeign counts a message of another protocol than its gate's, or of another version of it. The warning names both.
func (d *drops) addForeign(m *wire.Message, own *policy.Family, src netip.AddrPort) {
	d.addWith(wire.DropProtocol, src, func(line *zerolog.Event) {
		line.Stringer("gate", m.Gate).Str("theirs", fmt.Sprintf("%s, version %d", policy.FamilyName(m.Protocol), m.Version)).
			Str("ours", fmt.Sprintf("%s, version %d", own.Name, own.Version))
	})
}

// addWith counts a datagram; details adds to the warning.
func (d *drops) addWith(why wire.Drop, src netip.AddrPort, details func(*zerolog.Event)) {
	n := d.counts[why].Add(1)
	hint := remedy(why)
	if hint == "" {
		return
	}
	now, said := time.Now().UnixNano(), d.said[why].Load()
	d.last[why].Store(now)
	if now-said < int64(sayAgain) || !d.said[why].CompareAndSwap(said, now) {
		return
	}
	d.from[why].Store(new(src))
	line := d.log.Warn().Str("drop", why.String()).Stringer("from", src).Uint64("count", n)
	details(line)
	line.Msg(hint)
}

// remedy is the warning for an operator; empty for reasons that noise and late messages have.
func remedy(why wire.Drop) string {
	switch why {
	case wire.DropSeal:
		return "dropped a message that another secret sealed: all members need the same --secret-file"
	case wire.DropClear:
		return "dropped a message in the clear: a member there runs without the fleet's --secret-file"
	case wire.DropNoSecret:
		return "dropped a sealed message: this member runs without the fleet's --secret-file"
	case wire.DropVersion:
		return "dropped a message of another version of wanderd's protocol: upgrade the older members"
	case wire.DropProtocol:
		return "dropped a message of another protocol: all members of a gate need the same protocol, in the same version"
	case wire.DropSignature:
		return "dropped a message with a wrong signature: somebody impersonates a member, or a key was replaced"
	case wire.DropRate:
		return "dropped messages of a member that sends too many: see its log"
	case wire.DropOverload:
		return "dropped messages because this agent is behind: its host is overloaded"
	case wire.DropSize, wire.DropMagic, wire.DropClass, wire.DropMalformed, wire.DropGate, wire.DropAddressee,
		wire.DropStranger, wire.DropUnexpected, wire.DropDuplicate:
	}
	return ""
}

// warnings lists the reasons with a remedy that have occurred.
func (d *drops) warnings() (list []control.Warning) {
	for _, why := range wire.Drops() {
		last := d.last[why].Load()
		if last == 0 {
			continue
		}
		w := control.Warning{Text: remedy(why), Count: d.counts[why].Load(), Last: time.Unix(0, last)}
		if from := d.from[why].Load(); from != nil {
			w.From = from.String()
		}
		list = append(list, w)
	}
	return list
}

// lastOf is when a datagram was last dropped for a reason with a remedy, and the source in the last warning.
func (d *drops) lastOf(why wire.Drop) (from string, at time.Time) {
	if addr := d.from[why].Load(); addr != nil {
		from = addr.String()
	}
	return from, time.Unix(0, d.last[why].Load())
}

// nonzero returns the counters above zero, by name.
func (d *drops) nonzero() map[string]uint64 {
	all := make(map[string]uint64)
	for _, why := range wire.Drops() {
		if n := d.counts[why].Load(); n > 0 {
			all[why.String()] = n
		}
	}
	return all
}
