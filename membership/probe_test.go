package membership

import (
	"testing"
	"time"
)

// A member is silent after a row of probes without an answer, not after a few at once, and not after one more than
// before.
func TestAMemberIsSilentAfterARowOfProbes(t *testing.T) {
	begin := time.Unix(1e9, 0)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	p := newProbes()
	for range 2 * silentRow {
		p.failed("a", at(0))
	}
	if !p.silentSince("a", at(19)).IsZero() {
		t.Error("it is silent at once")
	}
	if since := p.silentSince("a", at(20)); !since.Equal(at(0)) {
		t.Errorf("it is silent since %s", since)
	}
	p.answered("a")
	for s := 21; s < 21+silentRow-1; s++ {
		p.failed("a", at(s))
	}
	if !p.silentSince("a", at(100)).IsZero() {
		t.Error("an answer does not end a row")
	}
	if !p.silentSince("b", at(100)).IsZero() {
		t.Error("a member is silent that was never probed")
	}
}
