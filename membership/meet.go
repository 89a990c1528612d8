package membership

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/timing"
)

const (
	// meetFirst is the pause before a member is asked for certificates. The pause doubles up to meetMax while ever more
	// of them are missing: one question asks for all of them at once. So, in a fleet of any size, a member asks once a
	// second while the fleet starts.
	meetFirst = 50 * time.Millisecond
	meetMax   = time.Second
	// meetTime is how long an answer may take.
	meetTime = 5 * time.Second
	// meetAtOnce bounds the owners that are asked at a time, each after a random pause of up to meetWithin, and not
	// again for MeetAgain.
	meetAtOnce = 8
	meetWithin = 250 * time.Millisecond
)

// verifyOthers asks for the certificates that are missing. It first asks a member that has spoken of them for all at
// once, because that member trusts them. If this is in vain, it asks their owners.
func (m *Membership) verifyOthers(ctx context.Context) {
	slots := make(chan struct{}, meetAtOnce)
	var last time.Time
	for pause := meetFirst; ; pause = min(2*pause, meetMax) {
		select {
		case <-m.transport.unverified.Ring:
		case <-ctx.Done():
			return
		}
		if time.Since(last) > meetMax {
			pause = meetFirst
		}
		if !timing.Sleep(ctx, timing.Jitter(pause)) {
			return
		}
		m.askOthers()
		m.askOwners(ctx, slots)
		last = time.Now()
	}
}

// askOthers asks one member for all certificates that are missing.
func (m *Membership) askOthers() {
	from, wanted := m.transport.unverified.Wanted()
	if len(wanted) == 0 {
		return
	}
	to, known := m.peers.Current().Lookup(from)
	if !known {
		others := peers.Some(m.peers.Others(), 1)
		if len(others) == 0 {
			m.transport.unverified.Asked(wanted, from, false, false)
			return
		}
		to = &others[0]
	}
	good, err := m.transport.askCertificates(to.Addr, wanted, time.Now().Add(meetTime))
	if err != nil {
		m.log.Debug().Stringer("addr", to.Addr).Str("reason", peers.Explain(err)).
			Msg("a member does not answer a question for certificates")
	}
	m.transport.unverified.Asked(wanted, from, known && err == nil, good > 0)
}

// askOwners asks members for their own certificates, by a full sync with them: both sides introduce themselves.
func (m *Membership) askOwners(ctx context.Context, slots chan struct{}) {
	j := m.joiner
	for _, addr := range m.transport.unverified.Owners(cap(slots)-len(slots), time.Now()) {
		if j.Met.Has(addr) || j.Itself(addr) {
			continue
		}
		j.Met.Add(addr, admission.MeetAgain)
		slots <- struct{}{}
		m.working.Go(func() {
			defer timing.Signal(m.transport.unverified.Ring) // others may wait for the slot
			defer func() { <-slots }()
			if !timing.Sleep(ctx, rand.N(meetWithin)) || j.Known(addr) {
				return // of two members that hear of each other at the same time, only one asks
			}
			if err := j.Contact(addr); err != nil {
				m.log.Debug().Stringer("addr", addr).Str("reason", peers.Explain(err)).
					Msg("a member does not show its certificate")
			}
		})
	}
}
