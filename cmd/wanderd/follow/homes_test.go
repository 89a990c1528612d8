package follow

import (
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// calledFleet is a gate of five members: a and b are homes for most, c is one for itself, e does not answer.
func calledFleet(now time.Time) *control.Fleet {
	f := &control.Fleet{}
	add := func(name string, homes string, q *control.Queue, waits time.Duration) {
		m := control.FleetMember{Member: control.Member{Name: name, Member: name}, Missing: "did not answer in time"}
		if homes != "" {
			g := control.Gate{Name: "g", Because: control.BecauseUnwanted}
			g.Called = &control.Called{Queue: q}
			for h := range strings.SplitSeq(homes, " ") {
				g.Called.Homes = append(g.Called.Homes, control.Guardian{Member: h, Name: h})
			}
			if waits > 0 {
				g.Because, g.DueSince = control.BecauseWaiting, now.Add(-waits)
			}
			m.Missing, m.Status = "", &control.Status{Gates: []control.Gate{g}}
		}
		f.Members = append(f.Members, m)
	}
	long := &control.Queue{As: control.AsHome, Waiters: 12, Oldest: make([]control.Waiter, 40)}
	add("a", "a b", long, 0)
	add("b", "a b", &control.Queue{As: control.AsHome}, 2*time.Second)
	add("c", "c a", nil, 9*time.Second)
	add("d", "a e", nil, 5*time.Second)
	add("e", "", nil, 0)
	return f
}

func TestHomesAreThoseThatMembersName(t *testing.T) {
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	rows := Rows(calledFleet(now), "g")
	homes := Homes(rows)
	if len(homes) != 4 {
		t.Fatalf("%+v", homes)
	}
	for i, want := range []Home{
		{Name: "a", Named: 4, First: 3, Of: 4},
		{Name: "c", Named: 1, First: 1, Of: 4},
		{Name: "b", Named: 2, Of: 4},
		{Name: "e", Named: 1, Of: 4, Missing: "did not answer in time"},
	} {
		if h := homes[i]; h.Name != want.Name || h.Named != want.Named || h.First != want.First || h.Of != want.Of ||
			h.Missing != want.Missing {
			t.Errorf("home %d is %+v, want %+v", i, h, want)
		}
	}
	if q := homes[0].Queue; q == nil || q.Waiters != 12 || len(q.Oldest) != mostWaiters {
		t.Errorf("a says of its queue %+v", q)
	}
	if homes[1].Queue != nil {
		t.Errorf("c keeps no queue, and says %+v", homes[1].Queue)
	}
	if p := PageOf(calledFleet(now)); len(p.Gates[0].Homes) != 4 {
		t.Errorf("%+v", p.Gates[0])
	}
}

func TestThoseThatHaveWaitedLongestComeFirst(t *testing.T) {
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	rows := Rows(calledFleet(now), "g")
	if waiting, _ := Next(rows, now); strings.Join(waiting, " ") != "c d b" {
		t.Errorf("these wait, in this order: %v", waiting)
	}
	rows[2].Running = true // a token has been seen there since
	if waiting, _ := Next(rows, now); strings.Join(waiting, " ") != "d b" {
		t.Errorf("these wait, in this order: %v", waiting)
	}
}
