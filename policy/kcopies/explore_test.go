package kcopies_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/wanderd/wanderd/policy/kcopies"
)

// Small worlds are explored to the end: every order in which the holder passes the token on, so many times at most; any pending
// message is delivered; a site crashes, also between two messages of a SafeSendToken; and a site is told of a crash, late or early. The
// appendix's properties hold in every state. Where nothing is under way any more, somebody holds the token, unless more than k sites in a
// row have crashed.
func TestSmallWorldsAreExploredExhaustively(t *testing.T) {
	for _, tc := range []struct{ n, k, hops, crashes int }{
		{3, 0, 5, 1}, {3, 1, 6, 2}, {4, 1, 5, 2}, {4, 2, 4, 2}, {5, 1, 4, 3}, {5, 2, 3, 3}, {5, 3, 3, 3},
	} {
		t.Run(fmt.Sprintf("n=%d,k=%d", tc.n, tc.k), func(t *testing.T) {
			t.Parallel()
			e := explorer{crashes: tc.crashes, hops: tc.hops, seen: map[string]bool{}}
			r := newRing(tc.n, tc.k)
			r.forgets = true
			first := r.begin()
			if err := e.explore(&first, 0); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states; the token was regenerated in %d, and lost in %d", len(e.seen), e.regenerated, e.lost)
			if e.regenerated == 0 && tc.k > 0 {
				t.Error("the token was never regenerated")
			}
			if tc.crashes > tc.k && e.lost == 0 {
				t.Error("more than k crashes in a row never lost the token")
			}
		})
	}
}

type explorer struct {
	hops, crashes     int
	seen              map[string]bool
	regenerated, lost int
	key               []byte
}

// stateKey is all that the future of a world depends on.
func (e *explorer) stateKey(w *world, hops int) string {
	b := append(e.key[:0], byte(w.crashed), byte(hops))
	for i := range w.n {
		m := &w.sites[i]
		st, monitors := m.Monitored()
		if !w.up(i) {
			b = append(b, 255)
			continue
		}
		b = append(b, byte(m.Token()), byte(m.Count()), byte(st), byte(w.suspected[i]))
		if !monitors {
			b[len(b)-2] = 255
		}
	}
	for i := range w.pending {
		p := &w.pending[i]
		st, _ := kcopies.Fields(&p.Load)
		b = append(b, p.To[15], byte(st))
		b = binary.BigEndian.AppendUint16(b, uint16(p.Token.Seq))
	}
	e.key = b
	return string(b)
}

func (e *explorer) explore(w *world, hops int) error {
	key := e.stateKey(w, hops)
	if e.seen[key] {
		return nil
	}
	e.seen[key] = true
	if w.regenerated > 0 {
		e.regenerated++
	}
	if w.quiet() && w.lost() {
		e.lost++
		if w.row() <= w.k {
			return fmt.Errorf("the token is lost, and only %d in a row have crashed", w.row())
		}
	}
	return w.each(hops < e.hops, w.dead() < e.crashes, func(a action) error {
		next := *w
		if err := a.do(&next); err != nil {
			return err
		}
		if a.kind == sends {
			return e.explore(&next, hops+1)
		}
		return e.explore(&next, hops)
	})
}

// "Let k (k < N − 1)" (section 2): with one more, S_i+k+1 is S_i itself.
func TestWithKOfNMinusOneTheHolderIsToReceiveItsOwnToken(t *testing.T) {
	for n := 2; n <= 3; n++ {
		e := explorer{crashes: 2, hops: 5, seen: map[string]bool{}}
		first := newRing(n, n-1).begin()
		if err := e.explore(&first, 0); err == nil {
			t.Errorf("n = %d, k = %d: nothing is wrong in %d states", n, n-1, len(e.seen))
		}
	}
}
