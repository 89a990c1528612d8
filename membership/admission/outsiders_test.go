package admission

import (
	"testing"

	"github.com/wanderd/wanderd/wire"
)

func TestFewHostsThatAreNotTrustedAreKept(t *testing.T) {
	var o Outsiders
	for i := range 2 * maxOutsiders {
		o.Note(Outsider{ID: wire.MemberID{byte(i)}})
		o.Note(Outsider{ID: wire.MemberID{byte(i)}})
	}
	if len(o.list) != maxOutsiders || o.list[0].ID != (wire.MemberID{maxOutsiders}) {
		t.Errorf("%d are remembered, from %s on", len(o.list), o.list[0].ID)
	}
}
