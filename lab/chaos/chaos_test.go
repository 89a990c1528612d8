//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/hosts"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == recorder {
		exit(record(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// length is for how long a fleet is harmed. All trials take place at the same time; "make chaos" takes longer.
const length = 15 * time.Second

// After faults of all kinds every member is served again, and the records of its commands show what the gate promises.
func TestAGateUnderFaults(t *testing.T) {
	deep.Only(t, "three fleets of processes under faults")
	program, err := hosts.Build(".", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"tree", "ring", "wander"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			c := &trial{
				policy: policy, members: 3, length: length, seed: uint64(time.Now().UnixNano()),
				program: program, self: self, dir: t.TempDir(),
			}
			var err error
			if c.network, err = hosts.NewNetwork(c.members); err != nil {
				t.Logf("without faults of the network: %v", err)
			} else {
				defer c.network.Close()
			}
			if err := c.run(); err != nil || c.holds < c.members {
				t.Errorf("%d commands: %v", c.holds, err)
			}
			if policy != "wander" && !c.strict() {
				t.Errorf("%d overlaps, %d numbers that do not rise:\n%s", c.overlaps, c.falls,
					strings.Join(c.faults, "\n"))
			}
			if t.Failed() {
				trace, _ := os.ReadFile(c.dir + "/trace")
				t.Logf("seed %d\n%s", c.seed, trace)
			}
		})
	}
}

func TestTheSweepCountsOverlapsAndFallingNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		journal          string
		overlaps, falls  int
		longest, slowest time.Duration
	}{
		"in turn": {
			"start 1 a 7 100 alone\nend 1 a 7 200\nstart 2 b 8 200 alone\nend 2 b 8 250\n", 0, 0, 0, 100,
		},
		"side by side": {
			"start 1 a 7 100 alone\nstart 2 b 8 150 alone\nend 1 a 7 190\nend 2 b 8 250\n", 1, 0, 40, 50,
		},
		"one within another": {
			"start 1 a 7 100 alone\nstart 2 b 8 150 alone\nend 2 b 8 160\nend 1 a 7 190\n", 1, 0, 10, 50,
		},
		"beside the one before last": {"start 1 a 7 0 alone\nstart 2 b 8 1 alone\nend 2 b 8 2\nstart 3 b 9 5 " +
			"alone\nend 1 a 7 6\nend 3 b 9 9\n", 2, 0, 1, 4},
		"killed, and then another": {
			"start 1 a 7 100 alone\nheartbeat 1 a 7 140\nstart 2 b 8 150 alone\n", 0, 0, 0, 50,
		},
		"killed after another began": {
			"start 1 a 7 100 alone\nheartbeat 1 a 7 160\nstart 2 b 8 150 alone\n", 1, 0, 0, 50,
		},
		"alive without a heartbeat": {
			"start 1 a 7 100 alone\nheartbeat 1 a 7 140\nstart 2 b 8 150 beside\n", 1, 0, 0, 50,
		},
		"one number twice": {"start 1 a 7 100 alone\nend 1 a 7 110\nstart 1 b 8 150 alone\n", 0, 1, 0, 50},
		"a number that falls": {
			"start 3 a 7 0 alone\nend 3 a 7 1\nstart 5 b 8 2 alone\nend 5 b 8 3\nstart 4 a 9 4 alone\n", 0, 1, 0, 2,
		},
		"a process number again": {
			"start 1 a 7 0 alone\nend 1 a 7 1\nstart 2 b 7 2 alone\nend 2 b 7 3\n", 0, 0, 0, 2,
		},
	} {
		holds, err := hosts.ReadJournal(strings.NewReader(c.journal))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v := sweep(holds)
		if v.overlaps != c.overlaps || v.falls != c.falls || v.longest != c.longest || v.pause != c.slowest ||
			len(v.faults) != c.overlaps+c.falls {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestAJournalThatMakesNoSenseIsAnError(t *testing.T) {
	for _, journal := range []string{"start 1 a\n", "end 1 a 7 100\n", "start one a 7 100 alone\n"} {
		if holds, err := hosts.ReadJournal(strings.NewReader(journal)); err == nil {
			t.Errorf("%q is %v", journal, holds)
		}
	}
}
