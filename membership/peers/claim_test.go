package peers

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
	watch := func(key ed25519.PrivateKey, home bool) *DuplicateWatch {
		w := NewDuplicateWatch(&Config{Key: key, AtHome: home}, &me)
		w.speaks = true
		return w
	}
	for name, claim := range map[string]func(mine *DuplicateWatch) []byte{
		"to nobody":         func(*DuplicateWatch) []byte { return watch(private, true).Claim() },
		"to an earlier one": func(*DuplicateWatch) []byte { w := watch(private, true); w.other = 7; return w.Claim() },
		"of another key": func(m *DuplicateWatch) []byte {
			w := watch(other, true)
			w.other = m.life
			return w.Claim()
		},
		"its own": func(m *DuplicateWatch) []byte { m.other = m.life; return m.Claim() },
		"cut short": func(m *DuplicateWatch) []byte {
			w := watch(private, true)
			w.other = m.life
			return w.Claim()[:50]
		},
		"changed": func(m *DuplicateWatch) []byte {
			w := watch(private, false)
			w.other = m.life
			b := w.Claim()
			b[33] = 1
			return b
		},
	} {
		mine := watch(private, false)
		mine.Heard(claim(mine))
		if len(mine.Copied) > 0 {
			t.Errorf("a claim %s stops it", name)
		}
	}
	mine, theirs := watch(private, false), watch(private, true)
	theirs.other = mine.life
	mine.Heard(theirs.Claim())
	if len(mine.Copied) != 1 {
		t.Error("a claim of the original does not stop a copy")
	}
}
