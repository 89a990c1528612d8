package kcopies_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/sim/explore"
)

// Small worlds are explored to the end: every order in which the holder passes the token on, up to a number of times;
// any pending message is delivered; a site crashes, also between two messages of a SafeSendToken; and a site is told of
// a crash, late or early. The appendix's properties hold in every state. Where nothing is under way any more, some site
// holds the token, unless more than k sites in a row have crashed.
func TestSmallWorldsAreExploredExhaustively(t *testing.T) {
	for _, tc := range []struct{ n, k, hops, crashes int }{
		{3, 0, 5, 1}, {3, 1, 6, 2}, {4, 1, 5, 2}, {4, 2, 4, 2}, {5, 1, 4, 3}, {5, 2, 3, 3}, {5, 3, 3, 3},
	} {
		t.Run(fmt.Sprintf("n=%d,k=%d", tc.n, tc.k), func(t *testing.T) {
			t.Parallel()
			if tc.n == 5 && tc.k > 1 {
				deep.AtNight(t, "millions of states")
			}
			r := newRing(tc.n, tc.k)
			r.forgets = true
			e := newExplorer(tc.hops, tc.crashes)
			if err := e.From(&hopped{world: r.begin()}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states; the token was regenerated in %d, and lost in %d", e.States, e.regenerated, e.lost)
			if e.regenerated == 0 && tc.k > 0 {
				t.Error("the token was never regenerated")
			}
			if tc.crashes > tc.k && e.lost == 0 {
				t.Error("more than k crashes in a row never lost the token")
			}
		})
	}
}

// hopped is a world, with the number of times that the token has been passed on.
type hopped struct {
	world
	hops int
	// broken is the property that the last step has broken.
	broken error
}

// explorer explores the world until the token has been passed on, and sites have crashed, a given number of times.
type explorer struct {
	explore.Search[hopped]
	hops, crashes     int
	regenerated, lost int
	key               []byte
}

func newExplorer(hops, crashes int) *explorer {
	e := &explorer{hops: hops, crashes: crashes}
	e.Visited, e.Judge, e.Branch = explore.ByKey(e.stateKey), e.judge, e.branch
	return e
}

// stateKey is all that the future of a world depends on.
func (e *explorer) stateKey(w *hopped) string {
	b := append(e.key[:0], byte(w.crashed), byte(w.hops), 0)
	if w.broken != nil {
		b[2] = 1
	}
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

func (e *explorer) judge(w *hopped) error {
	if w.regenerated > 0 {
		e.regenerated++
	}
	if w.quiet() && w.lost() {
		e.lost++
		if w.row() <= w.k {
			return fmt.Errorf("the token is lost, and only %d in a row have crashed", w.row())
		}
	}
	return w.broken
}

func (e *explorer) branch(w *hopped, reach func(*hopped, string)) {
	for _, a := range w.possible(w.hops < e.hops, w.dead() < e.crashes) {
		next := *w
		if next.broken = a.do(&next.world); a.kind == sends {
			next.hops++
		}
		reach(&next, a.String())
	}
}

// "Let k (k < N − 1)" (section 2): with one more, S_i+k+1 is S_i itself.
func TestWithKOfNMinusOneTheHolderIsToReceiveItsOwnToken(t *testing.T) {
	for n := 2; n <= 3; n++ {
		e := newExplorer(5, 2)
		if err := e.From(&hopped{world: newRing(n, n-1).begin()}); err == nil {
			t.Errorf("n = %d, k = %d: nothing is wrong in %d states", n, n-1, e.States)
		}
	}
}
