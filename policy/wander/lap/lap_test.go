package lap_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy/wander/lap"
	"github.com/wanderd/wanderd/wire"
)

// What is remembered changes nothing: when asked for the first time or for the tenth, alone or in turns with other
// orders and other views, the next member is the one with the least place after the cursor.
func TestTheNextMemberIsTheSameWithAndWithoutTheCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		views := make([][]wire.MemberID, 2)
		for v := range views {
			for i := range rapid.IntRange(0, 12).Draw(t, "members") {
				views[v] = append(views[v], wire.MemberID{byte(v), byte(i)})
			}
		}
		var shared lap.Laps
		for range 20 {
			ids := views[rapid.IntRange(0, 1).Draw(t, "view")]
			order := rapid.Uint64Range(1, 2).Draw(t, "order")
			self := rapid.IntRange(0, 12).Draw(t, "self")
			cursor := uint64(0)
			if len(ids) > 0 && rapid.Bool().Draw(t, "on the way") {
				cursor = lap.PlaceOf(order, &ids[rapid.IntRange(0, len(ids)-1).Draw(t, "cursor")])
			}
			got, ok := shared.After(ids, order, cursor, self)

			var places []uint64
			for i := range ids {
				if p := lap.PlaceOf(order, &ids[i]); i != self && p > cursor {
					places = append(places, p)
				}
			}
			if ok != (len(places) > 0) || ok && (got.At != slices.Min(places) ||
				lap.PlaceOf(order, &ids[got.Index]) != got.At) {
				t.Fatalf("after %d in order %d of %d, without %d: %+v, %v", cursor, order, len(ids), self, got, ok)
			}
		}
	})
}
