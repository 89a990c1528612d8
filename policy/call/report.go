package call

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// report tells the holder of the waiters.
//
// R4 Next. "A home tells the holder of its nine oldest waiters, unless the last Heartbeat lists the oldest one or five
// older ones. Repeated after P/8, 3P/8; for the same visit and waiter not again within P/2, or Heartbeat and Next
// answer each other for ever." Here a Heartbeat lists no waiters.
type report struct {
	id wire.Exchange
	// visit is the number of the token, holder its holder, and oldest the first waiter, as they were told at first.
	visit  wire.Seq
	holder wire.MemberID
	oldest served
	first  policy.Time
	// next is when it is repeated, or judged.
	next  policy.Time
	times uint8
	// denied is true once the holder has answered that it does not hold the token, greeted once it has sent a heartbeat
	// in this visit. If both are, it was told before the token had arrived; retold is true once it was told again.
	denied, greeted, retold bool
}

func (t *report) is(id wire.Exchange) bool { return t.id != 0 && t.id == id }

// wakesAt is when the holder is told again.
func (t *report) wakesAt() policy.Time {
	if t.id == 0 {
		return policy.Never
	}
	return t.next
}

// denies notes that a member does not hold the token.
func (t *report) denies(now policy.Time, who wire.MemberID) {
	if who == t.holder {
		t.denied = true
		t.tooEarly(now)
	}
}

// tooEarly tells the holder again at once, if it was told before the token had arrived. It does so once in a visit.
func (t *report) tooEarly(now policy.Time) {
	if t.denied && t.greeted && !t.retold {
		t.retold, t.times, t.first, t.next = true, 0, now, now
	}
}

// stop ends the repetitions: the holder has answered. If it is silent from then on, it is told again.
func (t *report) stop(cfg *Config, now policy.Time) { t.times, t.next = 3, now.Add(2*cfg.patience()) }

// tellHolder tells the holder of the waiters, if there is news for it. If no holder is known, this member looks for it.
// One that hears two holders in turn goes on with what it has told each: their answers would follow one another for
// ever.
func (m *Machine) tellHolder(now policy.Instant, out []policy.Effect) []policy.Effect {
	if m.custody.holds() || m.custody.in(running) || m.custody.leaving || m.queue.len() == 0 || m.handoff.Receiving() {
		m.report.id = 0
		if m.queue.len() == 0 || m.custody.holds() {
			m.search.stop()
		}
		return out
	}
	holder := m.known.holder
	switch {
	case holder == m.cfg.Self:
		m.cfg.Marks.Hit(markReportSelf)
		m.known.lose()
		fallthrough
	case m.known.lost || holder.IsZero():
		m.report.id = 0
		return m.look(now, out)
	}
	m.search.pause()
	chosen := m.queue.choose(holder)
	if chosen.n == 0 {
		return out
	}
	w := &m.queue.list[chosen.places[0]]
	t, oldest := &m.report, served{w.id.Hint(), w.wait}
	same := t.visit == m.known.ref.Seq && t.holder == holder && (t.oldest == oldest || w.visit == t.visit)
	if same && t.id == 0 {
		m.cfg.Marks.Hit(markReportSame)
		t.id = wire.Exchange(policy.Draw(m.cfg.Entropy))
		t.again(&m.cfg, now.Time)
	}
	if same {
		return out
	}
	if before := m.former; before.is(before.id) && before.visit == m.known.ref.Seq && before.holder == holder &&
		before.oldest == oldest && now.Time < before.first.Add(m.cfg.patience()) {
		m.cfg.Marks.Hit(markReportFormer)
		m.report, m.former = before, m.report
		return out
	}
	m.cfg.Marks.Hit(markReported)
	m.former = m.report
	*t = report{
		id: wire.Exchange(policy.Draw(m.cfg.Entropy)), visit: m.known.ref.Seq, holder: holder, oldest: oldest,
		first: now.Time, next: now.Time.Add(m.cfg.patience() / 8),
	}
	return m.sendChosen(now.Time, nextHolder, holder, t.id, &chosen, out)
}

// again tells the holder again, P/2 after the first time at the earliest.
func (t *report) again(cfg *Config, now policy.Time) {
	t.first, t.times = max(now, t.first.Add(cfg.patience()/2)), 0
	t.next = t.first
}

// wakeReport repeats a Next. If the holder is silent for P, its guardians suspect it; a home that guards no token looks
// for it.
func (m *Machine) wakeReport(now policy.Instant, out []policy.Effect) []policy.Effect {
	t, p := &m.report, m.cfg.patience()
	if t.id == 0 || now.Time < t.next {
		return out
	}
	switch t.times++; {
	case t.times == 1:
		t.next = t.first.Add(3 * p / 8)
	case t.times == 2:
		t.next = t.first.Add(p)
	case m.guards():
		m.cfg.Marks.Hit(markReportGuards)
		t.stop(&m.cfg, now.Time)
		return out
	case t.times == 3:
		m.cfg.Marks.Hit(markReportLost)
		m.known.lose()
		return out
	default:
		t.times, t.first, t.next = 0, now.Time, now.Time.Add(p/8)
	}
	m.cfg.Marks.Hit(markReportRepeated)
	return m.sendNext(now.Time, nextHolder, t.holder, t.id, out)
}
