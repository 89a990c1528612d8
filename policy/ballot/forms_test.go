package ballot_test

import (
	"regexp"
	"testing"

	"github.com/wanderd/wanderd/lab/forms"
	"github.com/wanderd/wanderd/lab/mutant"
)

// What no member sends, no member takes. A handoff may have any number, and much of a load is not read; nor is the
// exchange of a message of a tree or a ring, nor any slot.
func TestWhatNobodySendsIsNotTaken(t *testing.T) {
	unread := regexp.MustCompile(`^(Token|Ack|Commit): exchange 0$|^[A-Z_]+: exchange|^(Receipt|Request): exchange|` +
		`: slot|: generator 9|: load ([1-9][0-9]+|0) |^(POSITION|Renewed|Token): load 8`)
	for _, name := range gateKinds() {
		t.Run(name, func(t *testing.T) {
			seen, kind := forms.New(), gateKindOf(name)
			for _, seed := range mutant.Seeds(20) {
				w := newWorld(drawOf(kind, seed), shell{})
				w.seen = seen
				if err := w.until(int64(w.p.faultsFor)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			d := newWorld(drawOf(kind, 1), shell{}).newDescriptor()
			for _, loose := range seen.Loose(&d, unread) {
				t.Error(loose)
			}
		})
	}
}
