package sim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
)

func TestTheQueueGivesTheLeastKeyFirst(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	var q queue
	var want []key
	for round := range 2000 {
		if len(want) > 0 && dice.IntN(3) == 0 {
			least := slices.MinFunc(want, compareKeys)
			want = slices.DeleteFunc(want, func(k key) bool { return k == least })
			if got := q.pop().key; got != least {
				t.Fatalf("round %d: popped %v, and the least is %v", round, got, least)
			}
			continue
		}
		// There are few different times, so that seq has to decide.
		k := key{at: policy.Time(dice.IntN(50)), seq: uint64(round)}
		q.push(entry{key: k, kind: entryKind(dice.IntN(2))})
		want = append(want, k)
	}
	if len(want) == 0 {
		t.Fatal("nothing was left to compare")
	}
}

func TestAnAlarmThatMovesKeepsOnePlace(t *testing.T) {
	const members = 40
	dice := rand.New(rand.NewPCG(3, 4))
	a := newAlarms(members)
	want := map[int32]key{}
	for round := range 5000 {
		who := int32(dice.IntN(members))
		switch dice.IntN(4) {
		case 0:
			a.clear(who)
			delete(want, who)
		default:
			k := key{at: policy.Time(dice.IntN(50)), seq: uint64(round)}
			if !a.isAt(who, k.at) {
				a.set(who, k)
				want[who] = k
			}
		}
		checkAlarms(t, round, &a, want)
	}
}

func checkAlarms(t *testing.T, round int, a *alarms, want map[int32]key) {
	t.Helper()
	if len(a.heap) != len(want) {
		t.Fatalf("round %d: %d alarms, want %d", round, len(a.heap), len(want))
	}
	var least key
	for who, k := range want {
		if place := a.place[who]; place == absent || a.heap[place].key != k || a.heap[place].who != who {
			t.Fatalf("round %d: member %d is not where its alarm is", round, who)
		}
		if least == (key{}) || k.before(least) {
			least = k
		}
	}
	if len(want) > 0 && a.heap[0].key != least {
		t.Fatalf("round %d: the first alarm is %v, want %v", round, a.heap[0].key, least)
	}
}

func compareKeys(a, b key) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}
