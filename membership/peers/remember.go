package peers

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
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
	// Gates are the tags of the gates in which a failed member is missed, four hexadecimal digits each.
	Gates string `json:"gates,omitempty"`
}

// tagsOf writes the tags of gates, and marksOf reads them; what cannot be such a text has no gates.
func tagsOf(gates []gateMark) string {
	var b []byte
	for _, g := range gates {
		b = fmt.Appendf(b, "%04x", g.tag)
	}
	return string(b)
}

func marksOf(tags string) (gates []gateMark) {
	b, err := hex.DecodeString(tags)
	if err != nil || len(b)%2 != 0 || len(b) > 2*identity.MaxGates {
		return nil
	}
	for ; len(b) > 0; b = b[2:] {
		gates = append(gates, gateMark{tag: binary.BigEndian.Uint16(b)})
	}
	return gates
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
				Member: Member{ID: m.ID, Name: m.Name, Addr: m.Addr, State: state, Gates: marksOf(m.Gates)},
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
		if rec.State == StateFailed { // Of one that is live, nobody knows here how it will have gone.
			m.Gates = tagsOf(rec.Gates)
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Remembered) int {
		return cmp.Or(compareBool(!a.Gone.IsZero(), !b.Gone.IsZero()), -a.Gone.Compare(b.Gone), a.ID.Compare(b.ID),
			cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxRemembered)]
}
