package ballot_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// soakPlan is what a seed draws of hosts that soak: after a command that has succeeded, the grant stays with its host
// for a while, and nothing runs.
type soakPlan struct {
	soak time.Duration
}

// drawSoak lets one fleet in seven soak, but none in which a host hears nobody in the end, and keeps all others
// waiting. Its members have operations of their own no more often than all of them can have their turns.
func (p *plan) drawSoak() {
	if d := rand.New(rand.NewPCG(p.seed, 270)); d.Float64() < 1.0/7 && !p.standsDeaf {
		p.soak = p.lease/8 + time.Duration(d.Int64N(int64(6*p.lease)))
		if p.minInterval > 0 {
			p.minInterval = max(p.minInterval, time.Duration(p.members)*p.soak)
		}
	}
}

// soaks is how long a lap of soaks takes, and the rest of one of a host that has died.
func (p *plan) soaks() time.Duration { return time.Duration(p.members+1) * (p.soak + p.soak/10) }

// soaks lets a host soak once its command has succeeded, and reports whether it does.
func (w *world) soaks(i int) bool {
	r := &w.hosts[i].run
	if w.p.soak == 0 || r.token.Seq == 0 || r.termed || r.resumed || r.soaks {
		return false
	}
	r.soaks = true
	w.tell("%d soaks for %v", i, w.p.soak)
	w.check.soak.begins(w, i)
	w.at(w.trueAt(i, w.local(i).Add(w.p.soak)), evSoaked, i, r.number)
	w.ev.Kind, w.ev.Soak = policy.Soaks, w.p.soak
	w.step(i)
	return true
}

// soaked ends the soak of a host, when it is over or its grant is.
func (w *world) soaked(i int) {
	h := &w.hosts[i]
	if h.away || len(h.rest) > 0 {
		h.held = append(h.held, event{kind: evSoaked, who: int8(i), arg: h.run.number})
		return
	}
	goesOn := h.g.Ballot().Soaking(w.local(i))
	if !goesOn {
		w.check.soak.ends(i)
	}
	h.run.soaks = false
	w.succeeded(i, goesOn)
}

// soaking is what a world knows of the last soak of a host: when it is over, in true time, under which number it is,
// and which members have heard of it and support it.
type soaking struct {
	until int64
	seq   wire.Seq
	knows hostSet
}

// soakings checks that nobody starts in the soak of a host that has died in it, if a majority has heard of it.
type soakings []soaking

func (k soakings) begins(w *world, i int) {
	k[i] = soaking{until: w.now + int64(w.p.soak), seq: w.hosts[i].run.token.Seq}
}

func (k soakings) ends(i int) { k[i].until = 0 }

// stepped looks for members that hear of a soak, and support it. An ordinary renewal ends what they have heard.
func (k soakings) stepped(w *world, i int) {
	m := &w.ev.Msg
	if w.ev.Kind != policy.Received || m.Kind != ballot.KindRenew && m.Kind != ballot.KindRelease {
		return
	}
	promised, _ := w.hosts[i].g.Ballot().Lease()
	for of := range k {
		s := &k[of]
		switch {
		case ballot.EpochOf(s.seq) != ballot.EpochOf(m.Token.Seq) || m.Token.Seq < s.seq:
		case m.Kind == ballot.KindRenew && ballot.IsProbe(&m.Load):
		case m.Kind == ballot.KindRenew && ballot.SoakOf(&m.Load) > 0 && m.Token.Seq == s.seq &&
			promised == ballot.EpochOf(s.seq):
			if slices.ContainsFunc(w.out, func(e policy.Effect) bool {
				return e.Kind == policy.Send && e.Msg.Kind == ballot.KindRenewed && e.Msg.Exchange == m.Exchange
			}) {
				s.knows |= 1 << i
			}
		default:
			s.knows &^= 1 << i
		}
	}
}

// crashed: who restarts has forgotten it.
func (k soakings) crashed(i int) {
	for of := range k {
		k[of].knows &^= 1 << i
	}
}

// started checks a command that starts. Clocks differ.
func (k soakings) started(w *world, i int) {
	for of, s := range k {
		least := s.until - int64(float64(w.p.soak)*3*w.p.drift)
		if of != i && w.now < least && 2*bits.OnesCount16(uint16(s.knows)) > w.p.members {
			w.fail("soak: %d starts, and %d soaks until %.6f, as a majority knows: %09b", i, of, float64(s.until)/1e9,
				s.knows)
		}
	}
}
