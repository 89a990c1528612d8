package streams

import (
	"testing"
	"time"
)

// held is a connection in a queue.
func held(f *fairQueue, host string, heard bool, now time.Time) *queuedConn {
	conn := connFrom(host)
	conn.got = heard
	q := f.hold(conn)
	conn.place.Store(q)
	f.enter(q, now)
	return q
}

func TestTheNextPlaceIsOfTheAddressWithTheFewest(t *testing.T) {
	now, f := time.Now(), &fairQueue{most: 3, mostWaiting: 10}
	first := held(f, "10.0.0.1", true, now)
	held(f, "10.0.0.1", true, now)
	held(f, "10.0.0.1", true, now)
	greedy, modest := held(f, "10.0.0.1", true, now), held(f, "10.0.0.2", true, now)
	_ = first.conn.Close()
	if !f.has(modest) || f.has(greedy) {
		t.Error("the one who came first has the place, whose address has two")
	}
}

func TestASlowConnectionMakesRoomWhenOthersWait(t *testing.T) {
	now, f := time.Now(), &fairQueue{most: 3, mostWaiting: 10}
	modest := held(f, "10.0.0.2", false, now)
	said := held(f, "10.0.0.1", true, now)
	slow := held(f, "10.0.0.1", false, now)
	later := now.Add(slowAfter)
	if f.relieve(later); !f.has(slow) {
		t.Error("nobody waits, and one was sent away")
	}
	next := held(f, "10.0.0.3", false, later)
	if f.relieve(later.Add(-time.Millisecond)); f.has(next) {
		t.Error("one was sent away that is not slow yet")
	}
	f.relieve(later)
	if f.has(slow) || f.hear(slow) || !f.has(said) || !f.has(modest) || !f.has(next) {
		t.Error("the slow one of the address with most places has not made room")
	}
}

func TestAFullQueueDropsTheOldestConnectionOfTheCommonestAddress(t *testing.T) {
	now, f := time.Now(), &fairQueue{most: 1, mostWaiting: 3}
	held(f, "10.0.0.1", true, now)
	honest := held(f, "10.0.0.2", true, now)
	first := held(f, "10.0.0.1", true, now)
	for range 5 {
		held(f, "10.0.0.1", true, now)
	}
	if len(f.waiting) != 3 || f.waiting[0] != honest {
		t.Errorf("%d wait", len(f.waiting))
	}
	select {
	case <-first.called:
		if f.has(first) {
			t.Error("it has a place")
		}
	default:
		t.Error("it waits for ever")
	}
}
