package membership

import (
	"crypto/ed25519"
	"testing"

	"github.com/wanderd/wanderd/wire"
)

// A claim to an earlier life, or one signed with another key, stops nobody.
func TestAnOldClaimStopsNobody(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	_, other, _ := ed25519.GenerateKey(nil)
	me := Member{ID: wire.MemberIDOf(public)}
	watch := func(key ed25519.PrivateKey, home bool) *duplicateWatch {
		w := newDuplicateWatch(&peersConfig{Key: key, AtHome: home}, &me)
		w.speaks = true
		return w
	}
	for name, claim := range map[string]func(mine *duplicateWatch) []byte{
		"to nobody":         func(*duplicateWatch) []byte { return watch(private, true).claim() },
		"to an earlier one": func(*duplicateWatch) []byte { w := watch(private, true); w.other = 7; return w.claim() },
		"of another key":    func(m *duplicateWatch) []byte { w := watch(other, true); w.other = m.life; return w.claim() },
		"its own":           func(m *duplicateWatch) []byte { m.other = m.life; return m.claim() },
		"cut short":         func(m *duplicateWatch) []byte { w := watch(private, true); w.other = m.life; return w.claim()[:50] },
		"changed": func(m *duplicateWatch) []byte {
			w := watch(private, false)
			w.other = m.life
			b := w.claim()
			b[33] = 1
			return b
		},
	} {
		mine := watch(private, false)
		mine.heard(claim(mine))
		if len(mine.copied) > 0 {
			t.Errorf("a claim %s stops it", name)
		}
	}
	mine, theirs := watch(private, false), watch(private, true)
	theirs.other = mine.life
	mine.heard(theirs.claim())
	if len(mine.copied) != 1 {
		t.Error("a claim of the original does not stop a copy")
	}
}
