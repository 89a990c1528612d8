package membership

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/wire"
)

const (
	// maxGone is how many members that left or failed are kept; the oldest are dropped first.
	maxGone = 256
	// keepLeft is how long a member that left is still listed.
	keepLeft = time.Hour

	rosterWarnEvery = 10 * time.Minute
)

// roster holds the current and former members. One goroutine changes it; any goroutine may read.
type roster struct {
	cfg  *Config
	self wire.MemberID
	// suspectFor is how long a suspicion can last before memberlist decides.
	suspectFor time.Duration
	admission  *admission
	// views has capacity one and holds the newest view.
	views chan *View
	view  atomic.Pointer[View]

	// lost wakes the healer: there may be another member to reach, or one is due at another time; its capacity is one.
	lost chan struct{}

	logLimiter         *logLimiter
	refused, namesakes throttle
	sameNames          atomic.Uint64

	mu      sync.Mutex
	gates   []wire.GateID
	me      Member
	meta    metadata
	records map[string]*record // by node name: a member may also have a record under a former name
}

// record is the knowledge about one node other than this one.
type record struct {
	sighting
	since        time.Time // time of the last change of State or Addr
	suspectUntil time.Time
	// retryAt is the time of the next attempt to reach it if it has failed, retries the number of failed attempts, and trying is set
	// during an attempt.
	retryAt time.Time
	retries int
	trying  bool
}

func (r *record) live() bool { return r.State == StateAlive }

func newRoster(cfg *Config, me Member, meta metadata, suspectFor time.Duration, admission *admission) *roster {
	r := &roster{
		cfg: cfg, self: me.ID, gates: cfg.Gates, suspectFor: suspectFor, admission: admission, views: make(chan *View, 1), lost: make(chan struct{}, 1),
		logLimiter: newLogLimiter(cfg.Log), refused: throttle{every: rosterWarnEvery}, namesakes: throttle{every: rosterWarnEvery},
		me: me, meta: meta, records: make(map[string]*record),
	}
	r.changed()
	r.view.Store(&View{})
	r.publish()
	return r
}

func (r *roster) metadata() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.meta.encode(r.cfg.Key, nodeName(r.me.Name, r.me.ID), r.me.Addr)
}

// changed gives this member's metadata the next counter: the time in milliseconds, so that no former life had a higher one, unless its
// clock was ahead.
func (r *roster) changed() {
	r.meta.counter = max(r.meta.counter+1, uint64(max(time.Now().UnixMilli(), 0)))
}

// change changes this member's metadata, and reports whether it must be gossiped.
func (r *roster) change(by func(*metadata) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !by(&r.meta) {
		return false
	}
	r.changed()
	r.me.gates = r.meta.gates
	return true
}

// apply merges a mailbox's content and publishes a view if it has changed.
func (r *roster) apply(m mail, now time.Time) {
	for _, no := range m.refused {
		if ok, more := r.refused.allow(now); ok {
			r.cfg.Log.Warn().Str("node", no.node).Stringer("addr", no.addr).AnErr("reason", no.why).EmbedObject(more).
				Msg("ignoring a node of the gossip network that is not a member")
		}
	}
	r.mu.Lock()
	var changes []change
	for node, s := range m.seen {
		changes = append(changes, r.note(node, s, now)...)
	}
	for node, failed := range m.suspects {
		if rec := r.records[node]; rec != nil {
			rec.suspectUntil = time.Time{}
			if failed {
				rec.suspectUntil = now.Add(r.suspectFor)
			}
		}
	}
	r.forget(now)
	r.mu.Unlock()
	if r.publish() {
		r.warnOfNamesakes(now)
	}
	r.logLimiter.note(changes, len(r.view.Load().Members), now)
}

func (r *roster) note(node string, s sighting, now time.Time) []change {
	rec := r.records[node]
	if rec == nil {
		if s.gone {
			return nil
		}
		rec = &record{sighting: sighting{Member: Member{State: StateFailed}}}
		r.records[node] = rec
	}
	was := rec.Addr
	s.State = rec.State
	rec.sighting = s
	return r.judge(rec, was, now)
}

// judge sets the state of a member by what is known of it. was is its address before.
func (r *roster) judge(rec *record, was netip.AddrPort, now time.Time) []change {
	before := rec.State
	switch untrusted := r.admission.judge(rec.Name, rec.ID, rec.Key, nil); {
	case untrusted != nil:
		rec.State = StateUntrusted
	case rec.leaving:
		rec.State = StateLeft
	case rec.gone:
		rec.State = StateFailed
	default:
		rec.State = StateAlive
	}
	if rec.State != before || was != rec.Addr {
		rec.since, rec.suspectUntil = now, time.Time{}
		rec.retryAt, rec.retries = now.Add(jitter(healFirst)), 0
		signal(r.lost)
	}
	what := ""
	switch {
	case rec.State == StateUntrusted && before != StateUntrusted:
		what = "a member is no longer trusted"
	case rec.State == StateAlive && !was.IsValid():
		what = "a member joined"
	case rec.State == StateAlive && before != StateAlive:
		what = "a member came back"
	case rec.State == StateAlive && was != rec.Addr:
		what = "a member moved"
	case rec.State == StateLeft && before == StateAlive:
		what = "a member left"
	case rec.State == StateFailed && before == StateAlive:
		what = "a member failed"
	}
	if what == "" {
		return nil
	}
	return []change{{rec.Member, what}}
}

// judgeAll judges all members again, and publishes a view if it has changed.
func (r *roster) judgeAll(now time.Time) {
	r.mu.Lock()
	var changes []change
	for _, rec := range r.records {
		if rec.Key != nil { // else it is only remembered
			changes = append(changes, r.judge(rec, rec.Addr, now)...)
		}
	}
	r.mu.Unlock()
	r.publish()
	r.logLimiter.note(changes, len(r.view.Load().Members), now)
}

// forget drops members that left or failed before forgetAfter, and the oldest of the others if there are more than maxGone.
func (r *roster) forget(now time.Time) {
	var gone []string
	for node, rec := range r.records {
		switch {
		case rec.live():
		case now.Sub(rec.since) > forgetAfter:
			delete(r.records, node)
		default:
			gone = append(gone, node)
		}
	}
	if len(gone) <= maxGone {
		return
	}
	slices.SortFunc(gone, func(a, b string) int { return r.records[a].since.Compare(r.records[b].since) })
	for _, node := range gone[:len(gone)-maxGone] {
		delete(r.records, node)
	}
}

// publish makes a view. If it differs from the last one, publish puts it into views and returns true. Only one goroutine at a
// time may call it.
func (r *roster) publish() bool {
	before := r.view.Load()
	v := r.look(before)
	if v.same(before) {
		return false
	}
	r.view.Store(v)
	select {
	case <-r.views:
	default:
	}
	r.views <- v
	return true
}

// look makes a view of the live members; it shares unchanged parts with the view before.
func (r *roster) look(before *View) *View {
	r.mu.Lock()
	gates := r.gates
	r.mu.Unlock()
	return newView(r.self, gates, r.members((*record).live, func(rec *record) Member { return rec.Member }), before)
}

// members shows this member and the others that pass, sorted by identity, each once. Of several records of one identity it
// takes a live one first, then the one with the highest counter: the others are former names.
func (r *roster) members(pass func(*record) bool, show func(*record) Member) []Member {
	r.mu.Lock()
	defer r.mu.Unlock()
	recs := []*record{{sighting: sighting{Member: r.me}}}
	for _, rec := range r.records {
		if pass(rec) {
			recs = append(recs, rec)
		}
	}
	slices.SortFunc(recs, func(a, b *record) int {
		return cmp.Or(a.ID.Compare(b.ID), -compareBool(a.live(), b.live()), -cmp.Compare(a.counter, b.counter), -a.since.Compare(b.since), cmp.Compare(a.Name, b.Name))
	})
	recs = slices.CompactFunc(recs, func(a, b *record) bool { return a.ID == b.ID })
	members := make([]Member, len(recs))
	for i, rec := range recs {
		members[i] = show(rec)
	}
	return members
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// all returns all known members, with suspicion in their State.
func (r *roster) all(now time.Time) []Member {
	return r.members(func(rec *record) bool { return rec.State != StateLeft || now.Sub(rec.since) <= keepLeft }, func(rec *record) Member {
		m := rec.Member
		if m.State == StateAlive && rec.suspectUntil.After(now) {
			m.State = StateSuspect
		}
		m.Since = rec.since
		return m
	})
}

// due returns the addresses of lost members that are due for an attempt, except addresses of live members, and when to call it
// next. In a large fleet only a few members make each attempt. After a start, members that left are tried too: they may be back.
func (r *roster) due(now time.Time) (addrs []netip.AddrPort, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(now)
	live := map[netip.AddrPort]bool{r.me.Addr: true}
	others := 0
	for _, rec := range r.records {
		if rec.live() {
			live[rec.Addr] = true
			others++
		}
	}
	next = now.Add(healMax)
	for _, rec := range r.records {
		switch {
		case rec.live() || rec.State == StateUntrusted || rec.trying || rec.State == StateLeft && (others > 0 || rec.retries > 0):
			continue
		case rec.retryAt.After(now):
		case live[rec.Addr] || rand.IntN(1+others) >= healers:
			rec.putOff(now)
		default:
			rec.trying = true
			addrs = append(addrs, rec.Addr)
			live[rec.Addr] = true
			continue
		}
		if rec.retryAt.Before(next) {
			next = rec.retryAt
		}
	}
	return addrs, next
}

// tried records that the attempt at addr has ended.
func (r *roster) tried(addr netip.AddrPort, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range r.records {
		if rec.trying && rec.Addr == addr {
			rec.trying = false
			rec.putOff(now)
		}
	}
	signal(r.lost)
}

// putOff doubles the pause before the next attempt.
func (r *record) putOff(now time.Time) {
	r.retryAt = now.Add(jitter(min(healFirst<<min(r.retries, 16), healMax)))
	r.retries++
}

func (r *roster) warnOfNamesakes(now time.Time) {
	seen := make(map[string]netip.AddrPort)
	for _, m := range r.view.Load().Members {
		other, ok := seen[m.Name]
		seen[m.Name] = m.Addr
		if !ok {
			continue
		}
		r.sameNames.Add(1)
		if ok, _ := r.namesakes.allow(now); ok {
			r.cfg.Log.Warn().Str("name", m.Name).Stringer("one", other).Stringer("other", m.Addr).
				Msg("two members have the same name; both work, but logs cannot tell them apart: " +
					"give one of them another, with --name or with name in its configuration")
		}
	}
}
