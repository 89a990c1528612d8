package peers

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// Remembered is the record of another member with which an agent rejoins its fleet after a restart.
type Remembered struct {
	Name string         `json:"name"`
	ID   wire.MemberID  `json:"id"`
	Addr netip.AddrPort `json:"addr"`
	// Gone is when the member left or failed, to the second; zero while it is live.
	Gone time.Time `json:"gone,omitzero"`
	// Left is true if the member left on purpose.
	Left bool `json:"left,omitempty"`
}

const (
	// maxRemembered bounds the list: one member that answers is enough.
	maxRemembered = 256
	// forgetAfter is how long a member that left or failed is remembered, and how long a failed one is tried.
	forgetAfter = 7 * 24 * time.Hour
	// recallEvery is the pause between the first attempts at two remembered members after a start.
	recallEvery = 100 * time.Millisecond
)

// Recall adds the remembered members. Each counts as gone until it answers. The members that were last seen live are
// tried first.
func (t *Table) Recall(list []Remembered, now time.Time) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Remembered) int {
		return cmp.Or(compareBool(a.Left, b.Left), compareBool(!a.Gone.IsZero(), !b.Gone.IsZero()),
			-a.Gone.Compare(b.Gone))
	})
	retryAt := now
	for _, m := range list {
		since := m.Gone
		if since.IsZero() || since.After(now) {
			since = now
		}
		if m.ID == t.Self || identity.CheckName(m.Name) != nil || !m.Addr.IsValid() || now.Sub(since) > forgetAfter {
			continue
		}
		state := StateFailed
		if m.Left {
			state = StateLeft
		}
		t.records[identity.NodeName(m.Name, m.ID)] = &record{
			Sighting: Sighting{
				Member: Member{ID: m.ID, Name: m.Name, Addr: m.Addr, State: state},
			}, since: since, retryAt: retryAt,
		}
		retryAt = retryAt.Add(recallEvery)
	}
}

// Remembered lists the members for the next start of this agent: first the live ones, then those that left or failed,
// latest first. The list stays the same until a member changes.
func (t *Table) Remembered() []Remembered {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Remembered
	for _, rec := range t.records {
		if rec.ID == t.Self {
			continue
		}
		m := Remembered{ID: rec.ID, Name: rec.Name, Addr: rec.Addr, Left: rec.State == StateLeft}
		if !rec.live() {
			m.Gone = rec.since.UTC().Truncate(time.Second)
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Remembered) int {
		return cmp.Or(compareBool(!a.Gone.IsZero(), !b.Gone.IsZero()), -a.Gone.Compare(b.Gone), a.ID.Compare(b.ID),
			cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxRemembered)]
}
