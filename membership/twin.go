package membership

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const twinWarnEvery = 10 * time.Minute

// twinWatch looks for another agent that runs with this one's key: a state directory that was copied, or came with the
// image of a machine.
//
// It shows in two ways. Under the same human name, both have one node name, and memberlist reports a conflict of
// addresses; but so it does for a while after this agent has moved to another address, so whoever is at the other address
// is asked: only a live twin answers a ping to that name. Under another human name, the twin is a node of its own whose
// identity is this one's; it is a former name of this agent unless it answers a probe.
type twinWatch struct {
	self netip.AddrPort
	log  zerolog.Logger

	asking atomic.Bool
	warn   throttle
	found  atomic.Uint64
}

// ask finds out whether a twin lives at addr, by a ping that only this agent's node name answers. If not, moved is
// called: the fleet still knows this agent by an address it had before.
func (w *twinWatch) ask(addr netip.AddrPort, ping func(netip.AddrPort) error, moved func()) {
	if !w.asking.CompareAndSwap(false, true) {
		return
	}
	defer w.asking.Store(false)
	if err := ping(addr); err != nil {
		w.log.Debug().Stringer("addr", addr).Msg("this member is still known by an address it had before")
		moved()
		return
	}
	w.met(addr)
}

// met reports a twin that answered.
func (w *twinWatch) met(addr netip.AddrPort) {
	w.found.Add(1)
	if ok, _ := w.warn.allow(time.Now()); ok {
		w.log.Error().Stringer("addr", w.self).Stringer("other", addr).
			Msg("another agent runs with this one's key, so the fleet takes both for one member: stop one of them, " +
				"remove its state directory and start it again; a state directory must never be copied")
	}
}
