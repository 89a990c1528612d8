package guardian

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Once its operation is over, a host may soak: nobody is to start before that is over, and its holder keeps the token.
// If the holder dies meanwhile, its token is revived as ever, and what is left of the soak goes with the token: whoever
// holds it does not use it before. So every message with the token tells what is left, and who hears it counts on by
// its own clock:
//
//	holder                        guardian
//	  its host soaks for 10 min
//	  ── Heartbeat: 10 min left ────▶
//	  ── Heartbeat: 8 min left ─────▶
//	  ✗                               a patience of silence
//	                                  revives the token, and keeps it unused for almost 8 min
//
// A soak ends early if its holder says so. If the holder is stopped, what is left goes with the token, too. Nobody
// waits for longer than a soak may take by its own settings, whatever a message says.

// A load tells in its last byte what is left of a soak: up to 15 eighths of a second their number, and else m·2ᵉ of
// them, with e+1 in the upper 5 bits and m-8 in the lower 3. It is rounded up, by less than an eighth.
const (
	atSoak       = wire.LoadSize - 1
	soakUnit     = time.Second / 8
	mantissaBits = 3
	leastShifted = 1 << mantissaBits
	// mostLeft is the longest time that a load can tell of: 34 years.
	mostLeft = soakUnit << (1<<(8-mantissaBits) + mantissaBits - 2)
)

// SoakLeft returns what is left of a soak, as a load tells it; zero if there is none.
func SoakLeft(load *wire.Load) time.Duration {
	b := time.Duration(load[atSoak])
	if b < leastShifted {
		return b * soakUnit
	}
	return (leastShifted + b%leastShifted) * soakUnit << (b>>mantissaBits - 1)
}

// SoakTold returns what a message tells of a soak, and whether its sender says that it holds the token.
func SoakTold(m *wire.Message) (left time.Duration, byHolder bool) {
	return SoakLeft(&m.Load), m.Kind == KindHeartbeat
}

// SetSoakLeft writes what is left of a soak into a load.
func SetSoakLeft(load *wire.Load, left time.Duration) {
	n := uint64((min(max(left, 0), mostLeft) + soakUnit - 1) / soakUnit)
	e := max(bits.Len64(n)-mantissaBits-1, 0)
	n = (n + 1<<e - 1) >> e
	load[atSoak] = byte(e<<mantissaBits + int(n)) // If it is rounded up to a power of two, e rises by one.
}

// tellSoak makes a load tell what is left of a soak, if there is one.
func tellSoak(now, until policy.Time, load *wire.Load) {
	if until != 0 {
		SetSoakLeft(load, until.Sub(now))
	}
}

// soakUntil is when a soak of which a load tells is over; zero if it tells of none.
func (g *Machine) soakUntil(now policy.Time, load *wire.Load) policy.Time {
	if left := min(SoakLeft(load), g.cfg.Soak); left > 0 {
		return now.Add(left)
	}
	return 0
}

// See makes the loads of the tokens that this member holds and guards tell what is left of soaks. It must be called
// first in a step.
func (g *Machine) See(now policy.Time, held *Token) {
	if held != nil {
		tellSoak(now, g.holding.usedFrom(), &held.Load)
	}
	tellSoak(now, g.watch.soakUntil, &g.watch.token.Load)
}

// usedFrom is from when on the held token may be used by another run; zero if at any time.
func (h *holding) usedFrom() policy.Time { return max(h.soakUntil, h.unusedUntil) }

// Took must be called first when this member has become the holder of a token. It reports whether the token is not to
// be used yet.
func (g *Machine) Took(now policy.Time, held *Token) (unused bool) {
	g.holding.unusedUntil = g.soakUntil(now, &held.Load)
	SetSoakLeft(&held.Load, g.holding.usedFrom().Sub(now))
	return g.holding.unusedUntil != 0
}

// Unused is until when the held token is not to be used, because a former holder has died, or was stopped, in its soak.
func (g *Machine) Unused() policy.Time { return g.holding.unusedUntil }

// Soaks begins the soak of this member's host, whose operation has succeeded. held is nil if the token was given up
// meanwhile. The owner tells the guardians.
func (g *Machine) Soaks(now policy.Time, takes time.Duration, held *Token) {
	g.cfg.Marks.Hit(markSoaks)
	g.holding.soakUntil = now.Add(min(takes, g.cfg.Soak))
	g.See(now, held)
}

// EndSoak ends the soak of this member's host. If it goes on, what is left goes with the token. EndSoak reports whether
// it is over early: then the owner tells the guardians.
func (g *Machine) EndSoak(now policy.Time, goesOn bool, held *Token) (early bool) {
	h := &g.holding
	left := now < h.soakUntil
	if left && goesOn {
		h.unusedUntil = max(h.unusedUntil, h.soakUntil)
	}
	if held != nil && h.soakUntil != 0 {
		SetSoakLeft(&held.Load, h.unusedUntil.Sub(now))
	}
	h.soakUntil = 0
	return left && !goesOn
}

// Tune takes another bound for soaks.
func (g *Machine) Tune(soak time.Duration) { g.cfg.Soak = soak }
