package paper

import (
	"math"
	"math/rand/v2"
)

// model is the token without its messages, under one reading of the paper: what a simulator of "200 Perl lines" (section 6) may
// have done. A handoff is a jump that always succeeds. It exists to find out which reading explains the published numbers,
// and for nothing else; read as the machines read it, it must behave as they do, and a test says so.
type model struct {
	reading
	dice  *rand.Rand
	sites []site
	due   agenda
	now   float64
	tally tally
	theft theft
}

// site is one member.
type site struct {
	// gen is Δgen, silentSince when the last token was here.
	gen, silentSince float64
	// lastRun is when the last run counts as done, for Δmin; started when it began.
	hasRun, hasStarted bool
	lastRun, started   float64
	// last is figure 2's lasttoken: the token of the last run, or the last one met, as the reading has it.
	last coin
	// here is the token that is here, if there is one; queue are those that wait until it has gone.
	holds, running bool
	here           coin
	queue          []coin
	// disturbed says that this member has made a token since its last run.
	disturbed bool
}

// coin is a token of the model: number and stamp.
type coin struct {
	number uint64
	birth  float64
}

// precedes: "precedence is based firstly on the timestamp included in the token" (section 5), and last on an identifier.
func (t coin) precedes(o coin) bool {
	if t.birth != o.birth {
		return t.birth < o.birth
	}
	return t.number < o.number
}

// tally is what the model counts.
type tally struct {
	running, alive           int
	runningSince, aliveSince float64
	// spent is for how long how many operations ran at once, tokenless for how long there was no token.
	spent     []float64
	tokenless float64
	// bins are the intervals as table 4 seems to count them, allBins those of all; from zero.
	bins, allBins []float64
	// disturbed are those that table 4 leaves out, made the tokens.
	disturbed, made float64
}

// The paper's constants in its units.
const (
	modelSkip = 1.0
	modelOp   = 4.0
	modelMin  = 600.0
	modelMax  = 1800.0
)

// runModel runs the model for a long run.
func runModel(r reading, members int, seed uint64, until float64) tally {
	m := newModel(r, members, seed)
	for m.next(until) {
	}
	m.now = until
	m.count(0)
	m.live(0)
	return m.tally
}

// newModel returns a fleet in which one member holds the first token.
func newModel(r reading, members int, seed uint64) *model {
	m := &model{reading: r, dice: rand.New(rand.NewPCG(seed, uint64(members))), sites: make([]site, members)}
	for i := range m.sites {
		m.sites[i].gen = modelMax
		m.sites[i].last = coin{birth: math.Inf(-1)}
		m.due.add(m.deadline(i), i, suspicion)
	}
	m.arrive(0, m.make())
	return m
}

// next lets the next thing happen, unless it is after until.
func (m *model) next(until float64) bool {
	if len(m.due.heap) == 0 || m.due.heap[0].at > until {
		return false
	}
	e := m.due.next()
	m.now = e.at
	if e.kind == suspicion {
		m.suspect(e.who)
	} else {
		m.release(e.who)
	}
	return true
}

func (m *model) make() coin {
	m.live(+1)
	m.tally.made++
	return coin{number: uint64(m.tally.made), birth: m.now}
}

// arrive: a token comes to a member, which may have one already.
func (m *model) arrive(i int, t coin) {
	s := &m.sites[i]
	if !s.holds {
		m.take(i, t)
		return
	}
	switch m.crowd {
	case olderStays:
		m.lower(s)
		if t.precedes(s.here) {
			s.here = t
			if s.running {
				s.last = t
			}
		}
		m.live(-1)
	case arrivingLost:
		m.lower(s)
		m.live(-1)
	case arrivingWaits:
		s.queue = append(s.queue, t)
	}
}

// take is figure 2 after "select" has received a token.
func (m *model) take(i int, t coin) {
	s := &m.sites[i]
	m.lower(s)
	due := m.isDue(s, t)
	if !due && s.last.number != t.number && m.removal.removes(s.last, t) {
		if !m.deafToRemoved {
			s.silentSince = m.now
		}
		m.live(-1)
		return
	}
	s.silentSince = m.now
	s.holds, s.here = true, t
	if due {
		m.run(i)
		return
	}
	m.meet(s, t)
	m.due.add(m.now+modelSkip, i, departure)
}

// isDue: has this member to run the operation under t?
func (m *model) isDue(s *site, t coin) bool {
	switch m.test {
	case sinceRun:
		return !s.hasRun || m.now >= s.lastRun+modelMin
	case betweenBirths:
		return t.birth-s.last.birth > m.period
	case sinceArrival:
		return m.now-s.last.birth > m.period
	}
	return false
}

// meet is "lasttoken = token" where the reading takes it literally: at the end of every turn.
func (m *model) meet(s *site, t coin) {
	switch m.test {
	case sinceRun:
	case betweenBirths:
		s.last = t
	case sinceArrival:
		s.last = coin{number: t.number, birth: m.now}
	}
}

func (m *model) run(i int) {
	s := &m.sites[i]
	m.interval(s)
	s.hasRun, s.lastRun, s.last = true, m.now, s.here
	m.meet(s, s.here)
	s.running = true
	m.count(+1)
	m.due.add(m.now+modelOp, i, departure)
}

// release: the token goes on.
func (m *model) release(i int) {
	s := &m.sites[i]
	if s.running {
		m.count(-1)
		if m.countsFromEnd {
			s.lastRun = m.now
		}
	}
	s.holds, s.running = false, false
	if !m.silenceFromArrival {
		s.silentSince = m.now
	}
	m.send(i, s.here)
	for len(s.queue) > 0 && !s.holds {
		t := s.queue[0]
		s.queue = s.queue[1:]
		m.take(i, t)
	}
}

func (m *model) send(from int, t coin) {
	if m.steals() {
		return
	}
	to := m.dice.IntN(len(m.sites) - 1)
	if to >= from {
		to++
	}
	m.arrive(to, t)
}

func (m *model) deadline(i int) float64 {
	d := m.sites[i].silentSince + m.sites[i].gen
	if m.spread > 0 {
		d += m.spread * modelMax * m.dice.Float64()
	}
	return d
}

// suspect: no token has come for Δgen, or so it seemed when the look-out was set up.
func (m *model) suspect(i int) {
	s := &m.sites[i]
	switch at := s.silentSince + s.gen; {
	case s.holds:
		m.due.add(m.now+modelOp, i, suspicion)
		return
	case at > m.now:
		m.due.add(max(m.deadline(i), at), i, suspicion)
		return
	}
	s.disturbed = true
	if m.raise > 0 {
		s.gen *= m.raise
	}
	s.silentSince = m.now
	m.due.add(m.deadline(i), i, suspicion)
	t := m.make()
	if m.makerRuns && m.isDue(s, t) {
		s.holds, s.here = true, t
		m.run(i)
		return
	}
	if m.makingCounts {
		s.hasRun, s.lastRun, s.last = true, m.now, t
	}
	m.meet(s, t)
	m.send(i, t)
}

// lower lets Δgen fall.
func (m *model) lower(s *site) { s.gen -= m.fall * (s.gen - modelMax) }

// interval counts the time since the last run began.
func (m *model) interval(s *site) {
	if s.hasStarted {
		bin := int((m.now - s.started) / paperBin.Seconds())
		m.tally.allBins = addTo(m.tally.allBins, bin, 1)
		if s.disturbed {
			m.tally.disturbed++
		} else {
			m.tally.bins = addTo(m.tally.bins, bin, 1)
		}
	}
	s.hasStarted, s.started, s.disturbed = true, m.now, false
}

// count books the time until now, and that so many more operations run.
func (m *model) count(more int) {
	t := &m.tally
	t.spent = addTo(t.spent, t.running, m.now-t.runningSince)
	t.runningSince = m.now
	t.running += more
}

// live books the time until now, and that so many more tokens are alive.
func (m *model) live(more int) {
	t := &m.tally
	if t.alive == 0 {
		t.tokenless += m.now - t.aliveSince
	}
	t.aliveSince = m.now
	t.alive += more
}

// addTo adds to the i-th value, which may not be there yet.
func addTo(values []float64, i int, more float64) []float64 {
	for len(values) <= i {
		values = append(values, 0)
	}
	values[i] += more
	return values
}
