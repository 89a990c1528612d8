package agent

import (
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// drops counts dropped datagrams by reason, and warns at most once a minute about reasons with a remedy. It is safe for
// concurrent use.
type drops struct {
	log zerolog.Logger
	by  []dropped
}

type dropped struct {
	count atomic.Uint64
	// said is the time of the last warning, last that of the last drop, in nanoseconds of Unix time. Both, and from,
	// are set only for reasons with a remedy.
	said, last atomic.Int64
	// from is the source address in the last warning.
	from atomic.Pointer[netip.AddrPort]
}

func newDrops(log zerolog.Logger) *drops {
	return &drops{log: log, by: make([]dropped, len(wire.Drops())+1)}
}

func (d *drops) add(why wire.Drop, src netip.AddrPort) {
	d.addWith(why, src, func(*zerolog.Event) {})
}

// addForeign counts a message of a protocol, or of a version of it, other than its gate's. The warning names both.
func (d *drops) addForeign(m *wire.Message, own *policy.Descriptor, src netip.AddrPort) {
	d.addWith(wire.DropProtocol, src, func(line *zerolog.Event) {
		line.Stringer("gate", m.Gate).
			Str("theirs", fmt.Sprintf("%s, version %d", policy.ProtocolName(m.Protocol), m.Version)).
			Str("ours", fmt.Sprintf("%s, version %d", own.Name, own.Version))
	})
}

// addWith counts a dropped datagram; details adds fields to the warning.
func (d *drops) addWith(why wire.Drop, src netip.AddrPort, details func(*zerolog.Event)) {
	of := &d.by[why]
	n := of.count.Add(1)
	hint := remedy(why)
	if hint == "" {
		return
	}
	now, said := time.Now().UnixNano(), of.said.Load()
	of.last.Store(now)
	if now-said < int64(sayAgain) || !of.said.CompareAndSwap(said, now) {
		return
	}
	of.from.Store(new(src))
	line := d.log.Warn().Str("drop", why.String()).Stringer("from", src).Uint64("count", n)
	details(line)
	line.Msg(hint)
}

// remedy returns the warning for an operator. It is empty for reasons that noise and late messages cause.
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
		return "dropped a message of another protocol: " +
			"all members of a gate need the same protocol, in the same version"
	case wire.DropSignature:
		return "dropped a message with a wrong signature: somebody impersonates a member, or a key was replaced"
	case wire.DropRate:
		return "dropped messages of a member that sends too many: see its log"
	case wire.DropOverload:
		return "dropped messages because this agent is behind: its host is overloaded"
	case wire.DropSize, wire.DropMagic, wire.DropClass, wire.DropMalformed, wire.DropGate, wire.DropAddressee,
		wire.DropUnverified, wire.DropUnexpected, wire.DropDuplicate:
	}
	return ""
}

// secretDrops are the reasons for which datagrams are dropped when their sender has another secret, or none. Such drops
// recur for as long as their cause lasts.
func secretDrops() []wire.Drop { return []wire.Drop{wire.DropSeal, wire.DropClear, wire.DropNoSecret} }

// warnings lists the reasons with a remedy that have occurred, without signs of another secret that have ceased.
func (d *drops) warnings(now time.Time) (list []control.Warning) {
	for _, why := range wire.Drops() {
		from, last := d.lastOf(why)
		ended := slices.Contains(secretDrops(), why) && now.Sub(last) >= suspectFor
		if last.UnixNano() > 0 && !ended {
			list = append(list, control.Warning{
				Text: remedy(why), Count: d.by[why].count.Load(), Last: last, From: from,
			})
		}
	}
	return list
}

// lastOf returns when a datagram was last dropped for a reason with a remedy, and the source in the last warning.
func (d *drops) lastOf(why wire.Drop) (from string, at time.Time) {
	if addr := d.by[why].from.Load(); addr != nil {
		from = addr.String()
	}
	return from, time.Unix(0, d.by[why].last.Load())
}

func (d *drops) nonzero() map[string]uint64 {
	all := make(map[string]uint64)
	for _, why := range wire.Drops() {
		if n := d.by[why].count.Load(); n > 0 {
			all[why.String()] = n
		}
	}
	return all
}
