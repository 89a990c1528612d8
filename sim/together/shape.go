package together

import (
	"errors"
	"time"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/sim"
)

// drawShape lets some upgrades soak, or start only if few hosts are down, or stage by stage; and some all of that.
func (s *Scenario) drawShape(d sim.Dice) {
	if d.Sometimes(0.5) {
		s.Soak = d.Time(time.Second, 2*s.Op)
		s.MinInterval += time.Duration(s.Hosts) * s.Soak // So the gates are not always busy.
	}
	if d.Sometimes(0.5) {
		s.Shape.MaxDown = s.Slots + d.IntN(3)
	}
	if d.Sometimes(0.5) {
		d.DrawStages(&s.Shape, s.Hosts, s.Duration)
		s.Membership.Spread = min(s.Membership.Spread, 4*s.Skip)
		room := 3*time.Duration(s.Hosts)*(s.longest()+2*call.Patience(s.Skip)+s.grants()) +
			6*(s.Membership.GossipAfter+s.Membership.Spread)
		s.MinInterval = max(s.MinInterval, room)
	}
	if s.Slots == 1 && d.Sometimes(0.4) {
		s.Once, s.MinInterval = true, max(s.MinInterval, 6*s.Strict.Lease)
	}
}

// stages is how many stages the upgrade has.
func (s *Scenario) stages() int { return s.Shape.Stage(s.Hosts-1) + 1 }

// errHeldUp is why an upgrade does not start whose shape holds it up by now.
var errHeldUp = errors.New("too many are down, or an earlier stage is due, by now")

// errPaused is why a run does not start that an operator has paused a gate of.
var errPaused = errors.New("one of its gates is paused by now")

// gatesOf returns the gates of a job: the first one, and those that it takes.
func (w *world) gatesOf(j *job) []*gate {
	all := []*gate{j.first}
	for _, name := range j.taking.Gates() {
		all = append(all, w.gateNamed(j.host, name))
	}
	return all
}

// mayStart returns why a run that was granted a while ago may not start any more: "whatever forbids a grant forbids the
// start".
func (w *world) mayStart(j *job) error {
	for _, g := range w.gatesOf(j) {
		if w.standsAt(g).PausedByDirective(g.members[j.host]) {
			return errPaused
		}
	}
	if w.standsAt(j.first).Forbids(j.first.members[j.host], j.own()) {
		return errHeldUp
	}
	return nil
}

// forbidden checks that no run starts while one of its gates is paused here, and no upgrade that a shape forbids, as
// far as its host must know: it is there, in a whole network, for as long as others may take to notice what has
// happened.
func (r *rules) forbidden(j *job) {
	w, s := r.w, r.w.s
	for _, name := range s.needed(j) {
		if g := w.gateNamed(j.host, name); g.c.PausedByDirective(g.members[j.host]) {
			r.fail(j, "it starts, and gate %s is paused", name)
		}
	}
	noticed := s.Membership.Noticed()
	me := &w.hosts[j.host]
	if j.first != w.gates[0] || w.now.Sub(max(me.since, me.awayUntil, w.wholeAt)) <= noticed || w.parted > 0 {
		return
	}
	down := 1
	for h := range w.hosts {
		other := &w.hosts[h]
		met := other.lived > noticed && other.since.Sub(me.since) > noticed
		if other.died && met && w.now.Sub(other.since) > noticed {
			down++
		}
	}
	if most := s.Shape.MaxDown; most > 0 && down > most {
		r.fail(j, "it starts, and %d are down, and %d may be", down, most)
	}
	told := s.Membership.GossipAfter + s.Membership.Spread + 1
	for _, other := range r.operating {
		earlier := other.own() && other.first == w.gates[0] && s.Shape.Stage(other.host) < s.Shape.Stage(j.host)
		if earlier && j.own() && w.isOperating(other) && w.now.Sub(other.startedAt) > told &&
			w.now.Sub(max(w.hosts[other.host].since, w.hosts[other.host].awayUntil)) > noticed {
			r.fail(j, "it starts, and %s of an earlier stage runs", sim.MemberName(other.host))
		}
	}
}
