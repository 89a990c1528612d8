// Package peers knows the members of the fleet: what each announces of itself, which are live, left or failed, how to
// reach them again, and whether another agent has this one's key.
package peers

import (
	"cmp"
	"crypto/ed25519"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

const (
	// maxGone is how many members that left or failed are kept; the oldest are dropped first.
	maxGone = 256
	// keepLeft is how long a member that left is still listed.
	keepLeft = time.Hour

	// WarnEvery is the least time between two warnings of one kind.
	WarnEvery = 10 * time.Minute
)

// Config is what the table of peers, the joiner and the duplicate watch need to know.
type Config struct {
	// Key signs what this member announces. AtHome is true if its state directory has not been moved or copied.
	Key    ed25519.PrivateKey
	AtHome bool
	Gates  []wire.GateID
	// Addr is the address to which the agent's sockets are bound.
	Addr netip.AddrPort
	// Resolve looks up the hosts to join; nil means the system's resolver.
	Resolve Resolver
	// Ask asks sources of addresses; nil means the system's resolver for SRV records, and no programs.
	Ask Asker
	// Judge decides who may take part.
	Judge identity.Judge
	// IsForgotten reports whether a member that is gone is listed no more; nil means none is.
	IsForgotten func(wire.MemberID) bool
	Log         zerolog.Logger
}

// Table holds the current and former members. One goroutine changes it; any goroutine may read.
type Table struct {
	cfg  *Config
	Self wire.MemberID
	// suspectFor is how long a suspicion can last before memberlist decides.
	suspectFor time.Duration
	// Views has capacity one and holds the newest view.
	Views chan *View
	view  atomic.Pointer[View]

	// lost wakes the healer, because there may be another member to reach, or one is due at another time; its capacity
	// is one.
	lost chan struct{}

	logLimiter         *logLimiter
	refused, namesakes timing.Throttle
	SameNames          atomic.Uint64

	mu      sync.Mutex
	gates   []wire.GateID
	Me      Member
	meta    Metadata
	records map[string]*record // by node name: a member may also have a record under a former name
}

// record is the knowledge about one node other than this one.
type record struct {
	Sighting
	since        time.Time // time of the last change of State or Addr
	suspectUntil time.Time
	// retryAt is the time of the next attempt to reach the member if it has failed, retries is the number of failed
	// attempts, and trying is true during an attempt.
	retryAt time.Time
	retries int
	trying  bool
}

func (r *record) live() bool { return r.State == StateAlive }

// NewSelf returns this member, before its address is known.
func NewSelf(name string, key ed25519.PublicKey, gates []wire.GateID) (Member, error) {
	meta, err := NewMetadata(key, gates)
	return Member{ID: wire.MemberIDOf(key), Name: name, Key: key, Gates: meta.Gates}, err
}

// New makes the table of this member, me. suspectFor is how long a suspicion can last before memberlist decides.
func New(cfg *Config, me Member, suspectFor time.Duration) *Table {
	t := &Table{
		cfg: cfg, Self: me.ID, gates: cfg.Gates, suspectFor: suspectFor,
		Views: make(chan *View, 1), lost: make(chan struct{}, 1),
		logLimiter: newLogLimiter(cfg.Log), refused: timing.Throttle{Every: WarnEvery},
		namesakes: timing.Throttle{Every: WarnEvery},
		Me:        me, meta: Metadata{Key: me.Key, Gates: me.Gates}, records: make(map[string]*record),
	}
	t.changed()
	t.view.Store(&View{})
	t.Publish()
	return t
}

// Current returns the newest view.
func (t *Table) Current() *View { return t.view.Load() }

// Metadata returns what this member announces, signed.
func (t *Table) Metadata() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.meta.Encode(t.cfg.Key, identity.NodeName(t.Me.Name, t.Me.ID), t.Me.Addr)
}

// changed gives this member's metadata the next counter: the time in milliseconds, so that no former life had a higher
// one, unless its clock was ahead.
func (t *Table) changed() {
	t.meta.Counter = max(t.meta.Counter+1, uint64(max(time.Now().UnixMilli(), 0)))
}

// change changes this member's metadata, and reports whether it must be gossiped.
func (t *Table) change(by func(*Metadata) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !by(&t.meta) {
		return false
	}
	t.changed()
	t.Me.Gates = t.meta.Gates
	return true
}

// Apply merges a mailbox's content and publishes a view if it has changed.
func (t *Table) Apply(m Reports, now time.Time) {
	for _, no := range m.Refused {
		if ok, more := t.refused.Allow(now); ok {
			t.cfg.Log.Warn().Str("node", no.Node).Stringer("addr", no.Addr).AnErr("reason", no.Why).EmbedObject(more).
				Msg("ignoring a node of the gossip network that is not a member")
		}
	}
	t.mu.Lock()
	var changes []change
	for node, s := range m.Seen {
		changes = append(changes, t.note(node, s, now)...)
	}
	for node, failed := range m.Suspects {
		if rec := t.records[node]; rec != nil {
			rec.suspectUntil = time.Time{}
			if failed {
				rec.suspectUntil = now.Add(t.suspectFor)
			}
		}
	}
	t.forget(now)
	t.mu.Unlock()
	if t.Publish() {
		t.warnOfNamesakes(now)
	}
	t.logLimiter.note(changes, len(t.view.Load().Members), now)
}

func (t *Table) note(node string, s Sighting, now time.Time) []change {
	rec := t.records[node]
	if rec == nil {
		if s.Gone {
			return nil
		}
		rec = &record{Sighting: Sighting{Member: Member{State: StateFailed}}}
		t.records[node] = rec
	}
	was := rec.Addr
	s.State = rec.State
	rec.Sighting = s
	return t.judge(rec, was, now)
}

// judge sets the state of a member by what is known of it. was is its former address.
func (t *Table) judge(rec *record, was netip.AddrPort, now time.Time) []change {
	before := rec.State
	switch untrusted := t.cfg.Judge(rec.Name, rec.ID, rec.Key, nil); {
	case untrusted != nil:
		rec.State = StateUntrusted
	case rec.leaving:
		rec.State = StateLeft
	case rec.Gone:
		rec.State = StateFailed
	default:
		rec.State = StateAlive
	}
	if rec.State != before || was != rec.Addr {
		rec.since, rec.suspectUntil = now, time.Time{}
		rec.retryAt, rec.retries = now.Add(timing.Jitter(healFirst)), 0
		timing.Signal(t.lost)
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

// JudgeAll judges all members again, and publishes a view if it has changed.
func (t *Table) JudgeAll(now time.Time) {
	t.mu.Lock()
	var changes []change
	for _, rec := range t.records {
		if rec.Key != nil { // otherwise it is only remembered
			changes = append(changes, t.judge(rec, rec.Addr, now)...)
		}
	}
	t.mu.Unlock()
	t.Publish()
	t.logLimiter.note(changes, len(t.view.Load().Members), now)
}

// forget drops members that left or failed before forgetAfter, and the oldest of the others if there are more than
// maxGone.
func (t *Table) forget(now time.Time) {
	var gone []string
	for node, rec := range t.records {
		switch {
		case rec.live():
		case now.Sub(rec.since) > forgetAfter:
			delete(t.records, node)
		default:
			gone = append(gone, node)
		}
	}
	if len(gone) <= maxGone {
		return
	}
	slices.SortFunc(gone, func(a, b string) int { return t.records[a].since.Compare(t.records[b].since) })
	for _, node := range gone[:len(gone)-maxGone] {
		delete(t.records, node)
	}
}

// Publish makes a view. If it differs from the last one, Publish puts it into Views and returns true. Only one
// goroutine at a time may call it.
func (t *Table) Publish() bool {
	before := t.view.Load()
	v := t.Look(before)
	if v.same(before) {
		return false
	}
	t.view.Store(v)
	select {
	case <-t.Views:
	default:
	}
	t.Views <- v
	return true
}

// Look makes a view of the live members; it shares unchanged parts with the view before.
func (t *Table) Look(before *View) *View {
	t.mu.Lock()
	gates := t.gates
	t.mu.Unlock()
	return newView(t.Self, gates, t.members((*record).live, func(rec *record) Member { return rec.Member }), before)
}

// members shows this member and the others that pass, sorted by identity, each once. If one identity has several
// records, it takes a live one, or else the one with the highest counter: the others are former names.
func (t *Table) members(pass func(*record) bool, show func(*record) Member) []Member {
	t.mu.Lock()
	defer t.mu.Unlock()
	recs := []*record{{Sighting: Sighting{Member: t.Me}}}
	for _, rec := range t.records {
		if pass(rec) {
			recs = append(recs, rec)
		}
	}
	slices.SortFunc(recs, func(a, b *record) int {
		return cmp.Or(a.ID.Compare(b.ID), -compareBool(a.live(), b.live()), -cmp.Compare(a.Counter, b.Counter),
			-a.since.Compare(b.since), cmp.Compare(a.Name, b.Name))
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

// All returns all known members, with suspicion in their State, without those that are gone and forgotten.
func (t *Table) All(now time.Time) []Member {
	return t.members(func(rec *record) bool {
		gone := rec.State == StateLeft || rec.State == StateFailed
		return (rec.State != StateLeft || now.Sub(rec.since) <= keepLeft) &&
			(!gone || t.cfg.IsForgotten == nil || !t.cfg.IsForgotten(rec.ID))
	},
		func(rec *record) Member {
			m := rec.Member
			if m.State == StateAlive && rec.suspectUntil.After(now) {
				m.State = StateSuspect
			}
			m.Since = rec.since
			return m
		})
}

// due returns the addresses of lost members that are due for an attempt, except addresses of live members, and when to
// call it next. In a large fleet only a few members make each attempt. After a start, it includes members that left,
// because they may be back.
func (t *Table) due(now time.Time) (addrs []netip.AddrPort, next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	live := map[netip.AddrPort]bool{t.Me.Addr: true}
	others := 0
	for _, rec := range t.records {
		if rec.live() {
			live[rec.Addr] = true
			others++
		}
	}
	next = now.Add(HealMax)
	for _, rec := range t.records {
		switch {
		case rec.live() || rec.State == StateUntrusted || rec.trying || rec.State == StateLeft &&
			(others > 0 || rec.retries > 0):
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
func (t *Table) tried(addr netip.AddrPort, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, rec := range t.records {
		if rec.trying && rec.Addr == addr {
			rec.trying = false
			rec.putOff(now)
		}
	}
	timing.Signal(t.lost)
}

// putOff doubles the pause before the next attempt.
func (r *record) putOff(now time.Time) {
	r.retryAt = now.Add(timing.Jitter(min(healFirst<<min(r.retries, 16), HealMax)))
	r.retries++
}

func (t *Table) warnOfNamesakes(now time.Time) {
	seen := make(map[string]netip.AddrPort)
	for _, m := range t.view.Load().Members {
		other, ok := seen[m.Name]
		seen[m.Name] = m.Addr
		if !ok {
			continue
		}
		t.SameNames.Add(1)
		if ok, _ := t.namesakes.Allow(now); ok {
			t.cfg.Log.Warn().Str("name", m.Name).Stringer("one", other).Stringer("other", m.Addr).
				Msg("two members have the same name; both work, but logs cannot tell them apart: " +
					"give one of them another, with --name or with name in its configuration")
		}
	}
}

// Others returns the live members without this one.
func (t *Table) Others() []Member {
	return slices.DeleteFunc(slices.Clone(t.view.Load().Members), func(m Member) bool { return m.ID == t.Self })
}

// Some takes up to n elements at random. It changes the order of the list.
func Some[T any](list []T, n int) []T {
	for i := range min(n, len(list)) {
		at := i + rand.IntN(len(list)-i)
		list[i], list[at] = list[at], list[i]
	}
	return list[:min(n, len(list))]
}
