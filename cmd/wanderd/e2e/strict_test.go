package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// bothStrict runs a test with both strict policies.
func bothStrict(t *testing.T, test func(t *testing.T, f *fleet)) {
	t.Helper()
	for _, policy := range []string{"tree", "ring"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			f := strictFleet(t, policy)
			f.start()
			for _, n := range f.nodes {
				n.takesPart()
			}
			test(t, f)
		})
	}
}

// strictFleet is three agents with a strict gate for commands.
func strictFleet(t testing.TB, policy string) *fleet {
	t.Helper()
	return onDemand(t, 3, fmt.Sprintf("policy = %q", policy), `roster = ["m1", "m2", "m3"]`, `kill_after = "1s"`)
}

// takesPart waits until all members of the node's roster have agreed.
func (n *node) takesPart() {
	n.fleet.t.Helper()
	until(n.fleet.t, n.name+" takes part", func() bool {
		s, ok := n.status()
		return ok && s.Gates[0].State != control.Agreeing
	})
}

// witness is a command that records that it runs, with its process and its number, and checks whether another one does.
func (f *fleet) witness() (path string) {
	return f.script(`for other in "` + f.running + `"/*; do
	[ -e "$other" ] && kill -0 "${other##*/}" 2>/dev/null && echo "beside" >>"` + f.journal + `"
done
echo "$WANDERD_SEQ" >"` + f.running + `/$$"
echo "$WANDERD_SEQ $(date +%s%N)" >>"` + f.journal + `"
[ -n "$1" ] && exec sleep "$1"
exit 0
`)
}

// witnessed returns the numbers of the commands that have run, in the order in which they began, and when each began.
// It checks that none of them began while another one was alive.
func (f *fleet) witnessed() (numbers []uint64, at []time.Time) {
	f.t.Helper()
	text, _ := os.ReadFile(f.journal)
	for line := range strings.Lines(string(text)) {
		var seq uint64
		var ns int64
		if _, err := fmt.Sscan(line, &seq, &ns); err != nil {
			f.t.Errorf("two at once: %q", line)
			continue
		}
		numbers, at = append(numbers, seq), append(at, time.Unix(0, ns))
	}
	if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
		f.t.Errorf("the numbers do not rise: %d", numbers)
	}
	return numbers, at
}

// begins waits until the first command has begun.
func (f *fleet) begins() {
	f.t.Helper()
	until(f.t, "a command has begun", func() bool {
		numbers, _ := f.witnessed()
		return len(numbers) > 0
	})
}

func TestAStrictGateRunsTheCommandsOfAllHostsOneAtATime(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		var wg sync.WaitGroup
		path := f.witness()
		for range 3 {
			for _, n := range f.nodes {
				wg.Go(func() {
					if c := n.exec("--", path, "0.05"); c.code() != 0 {
						t.Errorf("%s: %s", n.name, c.errs.String())
					}
				})
			}
		}
		wg.Wait()
		if numbers, _ := f.witnessed(); len(numbers) != 9 {
			t.Errorf("%d commands have run", len(numbers))
		}
		s, _ := f.nodes[1].status()
		for i, v := range s.Gates[0].Roster {
			if want := f.nodes[i]; v.Name != want.name || v.Self != (i == 1) || !v.Agrees {
				t.Errorf("place %d of the roster is %+v", i, v)
			}
		}
	})
}

// The agent of the holder is killed while its command runs. The command's guard ends it, and reports that: the next
// command begins at once, and nothing of the first is alive.
func TestTheNextCommandBeginsWhenTheHoldersAgentIsKilled(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", path, "1000").begin()
		f.begins()
		second := f.nodes[1].exec("--", path).begin()
		until(t, "the second waits", func() bool { return len(f.nodes[1].callers()) == 1 })
		killed := time.Now()
		f.nodes[0].kill()
		second.wantCode(0, "")
		first.wantCode(70, "the grant was lost")
		_, at := f.witnessed()
		t.Logf("the next command begins %v after the agent was killed", at[1].Sub(killed).Round(time.Millisecond))
	})
}

// The same with a command that ignores SIGTERM: an orphaned command of a strict gate has kill_after to end, which is 1
// s here.
func TestTheNextCommandBeginsAKillAfterLaterIfTheFirstIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", "sh", "-c", "trap '' TERM; exec "+path+" 1000").begin()
		f.begins()
		second := f.nodes[1].exec("--", path).begin()
		until(t, "the second waits", func() bool { return len(f.nodes[1].callers()) == 1 })
		killed := time.Now()
		f.nodes[0].kill()
		second.wantCode(0, "")
		first.wantCode(70, "the grant was lost")
		_, at := f.witnessed()
		after := at[1].Sub(killed)
		t.Logf("the next command begins %v after the agent was killed; kill_after is 1s", after.Round(time.Millisecond))
		if after < time.Second-100*time.Millisecond {
			t.Errorf("the first had only %v to end", after)
		}
	})
}

// The guard of a command is stopped, and its agent has no majority any more: the agent kills the command before the
// lease ends.
func TestTheCommandOfAStoppedGuardIsKilledByItsAgent(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", path, "1000").begin()
		f.begins()
		entries, err := os.ReadDir(f.running)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
		pid, err := strconv.Atoi(entries[0].Name())
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(parentOf(t, pid), syscall.SIGSTOP)
		f.nodes[1].kill()
		f.nodes[2].kill()
		until(t, "the command is gone", gone(pid))
		first.wantCode(70, "")
		f.nodes[1].start()
		until(t, "another agent is up", func() bool {
			_, up := f.nodes[1].status()
			return up
		})
		if c := f.nodes[1].exec("--", path); c.code() != 0 {
			t.Error(c.errs.String())
		}
		f.witnessed() // nothing was alive
	})
}

// Caller, guard and agent are killed, as by a power cut: nobody can report it. The gate stands still until the lease is
// over.
func TestTheNextCommandBeginsAfterTheLeaseWhenNobodyIsLeftToTell(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", path, "1000").begin()
		f.begins()
		second := f.nodes[1].exec("--", path).begin()
		until(t, "the second waits", func() bool { return len(f.nodes[1].callers()) == 1 })
		var pid int
		entries, err := os.ReadDir(f.running)
		if err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
		if pid, err = strconv.Atoi(entries[0].Name()); err != nil {
			t.Fatal(err)
		}
		guard := parentOf(t, pid)
		killed := time.Now()
		for _, p := range []int{f.nodes[0].cmd.Process.Pid, guard, first.Process.Pid} {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		until(t, "the first command is gone", gone(pid))
		second.wantCode(0, "")
		_, at := f.witnessed()
		t.Logf("the next command begins %v after the power cut; the lease is 3s", at[1].Sub(killed).
			Round(time.Millisecond))
	})
}

// The agent of the holder stands still. The guard of its command needs no message from it, and ends the command in
// time.
func TestTheCommandOfAnAgentThatStandsStillIsGoneBeforeTheNextBegins(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", path, "1000").begin()
		f.begins()
		f.nodes[0].signal(syscall.SIGSTOP)
		if c := f.nodes[1].exec("--", path); c.code() != 0 {
			t.Error(c.errs.String())
		}
		f.witnessed() // nothing was alive
		f.nodes[0].signal(syscall.SIGCONT)
		first.wantCode(70, "the grant was lost")
		if c := f.nodes[0].exec("--", path); c.code() != 0 {
			t.Error(c.errs.String())
		}
		f.witnessed()
	})
}

func TestAStrictGateRunsWithAMajorityAndSaysWhenThereIsNone(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		f.nodes[2].kill()
		for _, n := range f.nodes[:2] {
			if c := n.exec("--", path); c.code() != 0 {
				t.Errorf("two of three: %s", c.errs.String())
			}
		}
		f.nodes[1].kill()
		waits := f.nodes[0].exec("--", path).begin()
		until(t, "status says so", func() bool {
			s, ok := f.nodes[0].status()
			return ok && s.Gates[0].NotRunning == "no majority: sees m1, misses m2, m3"
		})
		f.nodes[0].logged("no majority")
		// not by an agent that is too slow to report why
		until(t, "a caller that waits no longer is told so", func() bool {
			c := f.nodes[0].exec("--wait", "100ms", "--", path)
			c.wantCode(75, "")
			return strings.Contains(c.errs.String(), "no majority: sees m1, misses m2, m3")
		})
		f.nodes[1].start()
		if waits.code() != 0 {
			t.Error(waits.errs.String())
		}
		if numbers, _ := f.witnessed(); len(numbers) != 3 {
			t.Errorf("%d commands have run", len(numbers))
		}
	})
}

func TestAnAgentThatIsStoppedGivesAStrictGateUp(t *testing.T) {
	t.Parallel()
	bothStrict(t, func(t *testing.T, f *fleet) {
		path := f.witness()
		first := f.nodes[0].exec("--", path, "1000").begin()
		f.begins()
		second := f.nodes[1].exec("--", path).begin()
		until(t, "the second waits", func() bool { return len(f.nodes[1].callers()) == 1 })
		f.nodes[0].signal(syscall.SIGTERM)
		second.wantCode(0, "")
		first.wantCode(70, "the grant was lost")
		if code := f.nodes[0].exits(); code != 0 {
			t.Errorf("the agent exits with %d", code)
		}
		f.witnessed()
	})
}

// A hook with a min_interval works as in a soft gate: its member asks when it is due.
func TestHooksOfAStrictGateRunOneAtATimeWhenTheyAreDue(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"tree", "ring"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, 3, "--policy", policy, "--roster", "m1,m2,m3", "--kill-after", "1s", "--min-interval",
				"2s")
			f.start()
			until(t, "each has run twice", func() bool {
				runs := f.runs()
				return !slices.ContainsFunc(f.nodes, func(n *node) bool { return by(runs, n.name) < 2 })
			})
			f.runs()
			if f.beside > 0 {
				t.Errorf("%d hooks have found another one", f.beside)
			}
		})
	}
}

// A host that is not in the roster, and one with another roster, report that and change nothing.
func TestHostsWithAnotherRosterDoNotCount(t *testing.T) {
	t.Parallel()
	f := strictFleet(t, "tree")
	other := filepath.Join(f.dir, "other.toml")
	text := "[[gate]]\nname = \"g\"\npolicy = \"tree\"\nroster = [\"m1\", \"m3\"]\n"
	if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f.nodes[2].args = []string{"--config", other}
	f.start()
	f.nodes[0].logged("m3 at " + f.nodes[2].addr + " has another roster than this host (m1, m2, m3)")
	for _, n := range f.nodes {
		n.exec("--wait", "1s", "--", "true").wantCode(75, "waits for its roster")
	}
	f.nodes[1].kill()
	f.nodes[1].args = []string{"--config", other}
	f.nodes[1].start()
	if code := f.nodes[1].exits(); code != 78 {
		t.Errorf("a host outside of its roster ends with %d", code)
	}
}
