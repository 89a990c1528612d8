package paper

import (
	"math"
	"math/rand/v2"
)

// model is the token without its messages, under one reading of the paper: what a simulator of "200 Perl lines"
// (section 6) may have done. A handoff is a jump that always succeeds. Its only purpose is to find out which reading
// explains the published numbers. Under the machines' reading it must behave as they do, and a test checks this.
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
	// gen is Δgen. silentSince is when the last token was here.
	gen, silentSince float64
	// lastRun is when the last run counts as done, for Δmin. started is when it began.
	hasRun, hasStarted bool
	lastRun, started   float64
	// last is figure 2's lasttoken, the token of the last run. here is the token that the site holds, if it holds one.
	last, here     coin
	holds, running bool
	// disturbed is true if this member has made a token since its last run.
	disturbed bool
}

// coin is a token of the model: number and stamp.
type coin struct {
	number uint64
	birth  float64
}

// precedes: "precedence is based firstly on the timestamp included in the token" (section 5), and last on an
// identifier.
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
	// spent is the time with each number of operations at once. tokenless is the time without a token.
	spent     []float64
	tokenless float64
	// bins are the intervals as table 4 seems to count them, from zero. longest is the bin of the longest of all.
	bins    []float64
	longest int
	// disturbed is the number of intervals that table 4 leaves out. made is the number of tokens made.
	disturbed, made float64
}

// The paper's constants in its units.
const (
	modelSkip = 1.0
	modelOp   = 4.0
	modelMin  = 600.0
	modelMax  = 1800.0
)

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
		m.due.add(modelMax, i, false)
	}
	m.arrive(0, m.make())
	return m
}

// next applies the next event, unless that is after until.
func (m *model) next(until float64) bool {
	e := m.due.next()
	if e.at > until {
		return false
	}
	m.due.drop()
	m.now = e.at
	if e.departs {
		m.release(e.who)
	} else {
		m.suspect(e.who)
	}
	return true
}

func (m *model) make() coin {
	m.live(+1)
	m.tally.made++
	return coin{number: uint64(m.tally.made), birth: m.now}
}

// arrive is figure 2 after "select" has received a token. The member may have one already.
func (m *model) arrive(i int, t coin) {
	s := &m.sites[i]
	m.lower(s)
	if s.holds {
		if !m.arrivingLost && t.precedes(s.here) {
			s.here = t
			if s.running {
				s.last = t
			}
		}
		m.live(-1)
		return
	}
	s.silentSince = m.now
	due := m.isDue(s)
	if !due && s.last.number != t.number && (m.anyOther || s.last.precedes(t)) {
		m.live(-1)
		return
	}
	s.holds, s.here = true, t
	if due {
		m.run(i)
		return
	}
	m.due.add(m.now+modelSkip, i, true)
}

func (m *model) isDue(s *site) bool { return !s.hasRun || m.now >= s.lastRun+modelMin }

func (m *model) run(i int) {
	s := &m.sites[i]
	m.interval(s)
	s.hasRun, s.lastRun, s.last = true, m.now, s.here
	s.running = true
	m.count(+1)
	m.due.add(m.now+modelOp, i, true)
}

// release lets the token go on.
func (m *model) release(i int) {
	s := &m.sites[i]
	if s.running {
		m.count(-1)
		if m.countsFromEnd {
			s.lastRun = m.now
		}
	}
	s.holds, s.running = false, false
	s.silentSince = m.now
	m.send(i, s.here)
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

// suspect is called when no token has come for Δgen, or so it seemed when the look-out was set up.
func (m *model) suspect(i int) {
	s := &m.sites[i]
	switch at := s.silentSince + s.gen; {
	case s.holds:
		m.due.add(m.now+modelOp, i, false)
		return
	case at > m.now:
		m.due.add(at, i, false)
		return
	}
	s.disturbed = true
	if m.raise > 0 {
		s.gen *= m.raise
	}
	s.silentSince = m.now
	m.due.add(m.now+s.gen, i, false)
	t := m.make()
	if m.makerRuns && m.isDue(s) {
		s.holds, s.here = true, t
		m.run(i)
		return
	}
	if m.makingCounts {
		s.hasRun, s.lastRun, s.last = true, m.now, t
	}
	m.send(i, t)
}

func (m *model) lower(s *site) { s.gen -= m.fall * (s.gen - modelMax) }

// interval counts the time since the last run began.
func (m *model) interval(s *site) {
	if s.hasStarted {
		bin := int((m.now - s.started) / paperBin.Seconds())
		m.tally.longest = max(m.tally.longest, bin)
		if s.disturbed {
			m.tally.disturbed++
		} else {
			m.tally.bins = addTo(m.tally.bins, bin, 1)
		}
	}
	s.hasStarted, s.started, s.disturbed = true, m.now, false
}

// count records the time until now, and changes the number of running operations.
func (m *model) count(more int) {
	t := &m.tally
	t.spent = addTo(t.spent, t.running, m.now-t.runningSince)
	t.runningSince = m.now
	t.running += more
}

// live records the time until now, and changes the number of tokens.
func (m *model) live(more int) {
	t := &m.tally
	if t.alive == 0 {
		t.tokenless += m.now - t.aliveSince
	}
	t.aliveSince = m.now
	t.alive += more
}
