package membership

import (
	"testing"
	"time"
)

// held is a connection in a hall.
func held(h *hall, host string, heard bool, now time.Time) *guestInHall {
	conn := connFrom(host)
	conn.got = heard
	guest := h.guest(conn)
	conn.guest.Store(guest)
	h.enter(guest, now)
	return guest
}

func TestTheNextPlaceIsOfTheAddressWithTheFewest(t *testing.T) {
	now, h := time.Now(), &hall{most: 3, mostWaiting: 10}
	first := held(h, "10.0.0.1", true, now)
	held(h, "10.0.0.1", true, now)
	held(h, "10.0.0.1", true, now)
	greedy, modest := held(h, "10.0.0.1", true, now), held(h, "10.0.0.2", true, now)
	_ = first.conn.Close()
	if !h.has(modest) || h.has(greedy) {
		t.Error("the one who came first has the place, whose address has two")
	}
}

func TestWhoIsSlowMakesRoomWhenOthersWait(t *testing.T) {
	now, h := time.Now(), &hall{most: 3, mostWaiting: 10}
	modest := held(h, "10.0.0.2", false, now)
	said := held(h, "10.0.0.1", true, now)
	slow := held(h, "10.0.0.1", false, now)
	later := now.Add(slowAfter)
	if h.relieve(later); !h.has(slow) {
		t.Error("nobody waits, and one was sent away")
	}
	next := held(h, "10.0.0.3", false, later)
	if h.relieve(later.Add(-time.Millisecond)); h.has(next) {
		t.Error("one was sent away that is not slow yet")
	}
	h.relieve(later)
	if h.has(slow) || h.hear(slow) || !h.has(said) || !h.has(modest) || !h.has(next) {
		t.Error("the slow one of the address with most places has not made room")
	}
}

func TestOfThoseWhoWaitTheOldestOfTheCommonestAddressGoes(t *testing.T) {
	now, h := time.Now(), &hall{most: 1, mostWaiting: 3}
	held(h, "10.0.0.1", true, now)
	honest := held(h, "10.0.0.2", true, now)
	first := held(h, "10.0.0.1", true, now)
	for range 5 {
		held(h, "10.0.0.1", true, now)
	}
	if len(h.waiting) != 3 || h.waiting[0] != honest {
		t.Errorf("%d wait", len(h.waiting))
	}
	select {
	case <-first.called:
		if h.has(first) {
			t.Error("it has a place")
		}
	default:
		t.Error("it waits for ever")
	}
}
