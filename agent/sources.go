package agent

import (
	"net/netip"
	"time"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
)

// maxSources is how many sources have an allowance of their own; the others share one.
const maxSources = 256

// sources has the allowance of each source address. It is for one goroutine.
type sources struct {
	refill time.Duration
	burst  float64
	known  map[netip.Addr]*allowance
}

func newSources(refill time.Duration, burst float64) sources {
	return sources{refill: refill, burst: burst, known: make(map[netip.Addr]*allowance)}
}

// admit takes one message from the allowance of an address, and reports whether there was one left. It does not allocate for an
// address that it knows. Addresses whose allowance is full are forgotten where places are short.
func (s *sources) admit(addr netip.Addr, now policy.Time) bool {
	addr = membership.SourceOf(addr)
	if s.known[addr] == nil && len(s.known) >= maxSources {
		for old, its := range s.known {
			if its.fill(now, s.refill, s.burst); its.left == s.burst {
				delete(s.known, old)
			}
		}
		if len(s.known) >= maxSources {
			addr = netip.Addr{}
		}
	}
	its := s.known[addr]
	if its == nil {
		its = &allowance{left: s.burst, asOf: now}
		s.known[addr] = its
	}
	return its.take(now, s.refill, s.burst)
}
