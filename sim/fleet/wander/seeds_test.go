package wander_test

import (
	"bytes"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/hunt"
	"github.com/wanderd/wanderd/sim/trace"
)

// A hunt: each seed draws a fleet and its faults. At night there are 2,000 of them, half of a hunt's default seeds, and
// they also lead to everything that can occur.
func TestSeedsBreakNoRule(t *testing.T) {
	const enough = 2000
	seeds := mutant.Seeds(deep.Of[uint64](50, 100, enough))
	r := hunt.Run(t.Context(), hunt.Options{From: seeds[0], Seeds: uint64(len(seeds))})
	if r.Failure != nil {
		t.Fatal(r.Failure.String() + mutant.Reduced(t, r.Failure.Smaller))
	}
	if missing := r.Coverage.Missing(); r.Seeds >= enough && len(missing) > 0 {
		t.Errorf("%d seeds never led to %v", r.Seeds, missing)
	}
	if r.Seeds != uint64(len(seeds)) {
		t.Errorf("%d seeds, want %d", r.Seeds, len(seeds))
	}
	t.Logf("%d seeds\n%v", r.Seeds, r.Coverage)
}

// Seeds that failed once stay, each with what it has found.
func TestSeedsThatFailedOnce(t *testing.T) {
	deep.AtNight(t, "many seeds")
	for seed, found := range map[uint64]string{
		3665:   "one of two restarted members made a token when the other had gone, and the other removed it",
		112562: "with a short max_interval, two tokens of a sweep followed each other round for ever",
		282:    "who was told of a token that it knew to be removed kept a copy and revived it",
		784:    "a message that was not expected made a holder ask its guardians",
		103202: "two holders of one token with the same number answered each other's heartbeats for ever",
		107403: "a holder that was asleep, and alone when it woke, ran before its guardians had answered",
		136:    "operations took longer than op said, and several tokens lived for ever",
		2:      "a member that was due offered its token in vain again and again, and never ran",
		25:     "where a round trip took longer than a skip, no offer was ever answered in time",
		46:     "where no datagram arrived, nobody ran any more",
		83:     "one member was not heard, and nobody ran any more",
		1:      "a holder that heard nobody kept its token for as long as it calmed its guardians",
		13902:  "a holder that heard nobody kept its token because somebody played back a heartbeat to it",
		18954: "a copy of a token that its holder gave up, and of which nobody else had heard, overtook the one " +
			"that was left",
		29166: "a holder that discarded its copy because it was offered a later one kept an earlier one from then on",
		27469: "a holder that had become patient while it was deaf was taken for one that never gives up",
		36904: "a holder that was stopped while it asked went on although its guardians had heard nothing for a " +
			"patience",
		49531:  "members that had never met were parted for good, and waited for each other",
		2456:   "a holder that heard nobody, and was alone, was taken for one that keeps its token from others",
		116586: "a run started in the step in which an older token was revived, which then took its place",
		4147:   "the checker took a token for one that rests which was offered in vain to a member that had left",
		4239:   "the same, where the offer was lost",
	} {
		s := wandering.Draw(seed)
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d, which once found that %s: %v", seed, found, o.Err)
		}
	}
	for seed, found := range map[uint64]string{
		4763:  "a message that was not expected made a member save that its host was not ready",
		12099: "gossip forgot a directive when the network was cut twice",
	} {
		s := wandering.Draw(seed)
		s.AskBeforeRun = true
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d with members that ask before they run, which once found that %s: %v", seed, found, o.Err)
		}
	}
}

func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= deep.Of[uint64](4, 4, 20); seed++ {
		var once, again bytes.Buffer
		for _, w := range []*bytes.Buffer{&once, &again} {
			s := wandering.Draw(seed)
			s.Explore(trace.NewTrace(w, wandering.Words()))
		}
		if once.Len() == 0 || !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Fatalf("seed %d gives two different traces, of %d and %d bytes", seed, once.Len(), again.Len())
		}
	}
}

// A run must not depend on its watchers; otherwise a failing seed could not be shown with a trace.
func TestWatchersChangeNothing(t *testing.T) {
	for seed := uint64(1); seed <= deep.Of[uint64](4, 4, 20); seed++ {
		s := wandering.Draw(seed)
		steps := s.Explore().Steps
		if watched := s.Explore(trace.NewTrace(trace.NewTail(1), wandering.Words()),
			&wandering.Coverage{}).Steps; watched != steps {
			t.Fatalf("seed %d takes %d steps, and %d when it is watched", seed, steps, watched)
		}
	}
}
