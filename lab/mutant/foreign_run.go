package mutant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// suite is a part of a package's tests that may notice a mutant.
type suite struct {
	pkg  string
	args []string
}

// foreignFolders are the packages that are mutated: all protocols, and what they are made of.
func foreignFolders() []string {
	return []string{
		"policy/ballot", "policy/call", "policy/directive", "policy/guardian", "policy/handoff", "policy/pace",
		"policy/ready", "policy/ring", "policy/soft", "policy/strict", "policy/tree", "policy/wander",
		"policy/wander/lap", "policy/window",
	}
}

// suites returns the hunts that may notice a mutant of a package, and its unit tests and those of its users. What is
// quick, and likely to notice it, comes first. A hunt has its kept scenarios, so many seeds of plain worlds, and a
// third of that of each other kind; and what the package itself draws or explores: a network and its members in the
// hands of an adversary, or all orders of events in a small world.
func suites(pkg string, seeds int) (hunts, units []suite) {
	some := []string{"-first=1", "-seeds=" + strconv.Itoa(seeds)}
	few := []string{"-first=51", "-seeds=" + strconv.Itoa((seeds+2)/3)}
	tests := func(pkg, names string, args ...string) suite {
		return suite{pkg, append([]string{"-test.run", "^(" + names + ")$"}, args...)}
	}
	const shapes = "TestNoSeedBreaksAShape|TestNoSeedBreaksSeveralShapes|TestNoSeedBreaksAKeptGrant"
	forms := func(pkg string) suite { return tests(pkg, "TestWhatNobodySendsIsNotTaken") }
	adversary := func(pkg, names string) suite { return tests(pkg, names, "-rapid.seed=1", "-rapid.nofailfile") }
	orders := tests("policy/wander", "TestMembersThatAskNeverRunAtOnce")
	call := []suite{
		forms("sim/fleet/call"),
		tests("sim/fleet/call", "TestKeptScenarios"),
		tests("sim/fleet/call", "TestNoSeedBreaksARule", some...),
		tests("sim/fleet/call", "TestNoSeedBreaksARuleInEitherForm|"+shapes, few...),
	}
	wander := []suite{
		forms("sim/fleet/wander"), orders, adversary("policy/wander", "TestTheInvariantsHoldInEveryState"),
		tests("sim/fleet/wander", "TestKeptScenarios"),
		tests("sim/fleet/wander", "TestSeedsBreakNoRule", some...),
		tests("sim/fleet/wander", "TestNoSeedBreaksARuleInACore|"+shapes, few...),
	}
	strict := []suite{
		forms("policy/ballot"), tests("policy/ballot", "TestKeptWorlds"), tests("policy/ballot", "TestHunt", some...),
	}
	tree := []suite{
		forms("policy/ballot"), tests("policy/tree", "TestThreeSitesAreExploredExhaustively"),
		tests("policy/ballot", "TestHunt", append(some, "-ballot.gate=tree,paced")...),
		tests("sim/fleet/tree", "TestNoSeedBreaksARule", some...),
	}
	ring := []suite{
		forms("policy/ballot"),
		tests("policy/ring", "TestEveryOrderInSmallRingsKeepsTheBounds|TestRandomOrdersKeepThePublishedBounds"),
		tests("policy/ballot", "TestHunt", append(some, "-ballot.gate=always,martin,q,d")...),
		tests("sim/fleet/ring", "TestSeedsBreakNoRule", some...),
	}
	soft := slices.Concat(call, wander)
	hunted := func(all ...suite) []suite {
		return append(all, tests("sim/together", "TestNoSeedBreaksARule", few...))
	}
	unit := func(names ...string) (all []suite) {
		for _, name := range names {
			skip := "^(TestHunt|TestMutantsAreCaught|TestEveryMutantIsCaught|TestBrokenShellsAreCaught)$"
			all = append(all, suite{"policy/" + name, []string{"-test.short", "-test.skip", skip}})
		}
		return all
	}
	switch name := strings.TrimPrefix(pkg, "policy/"); name {
	case "call":
		return hunted(call...), unit(name)
	case "wander", "wander/lap":
		return hunted(wander...), unit(name, "wander")
	case "guardian":
		const walks = "TestTheInvariantsHoldForAnyMessages|TestALostTokenIsRevivedIfAGuardianLives"
		return hunted(append([]suite{adversary("policy/guardian", walks)}, soft...)...), unit(name, "call", "wander")
	case "soft":
		return hunted(soft...), unit(name, "call", "wander")
	case "handoff":
		walks := adversary("policy/handoff", "TestAtMostOneHoldsTheToken|TestWithoutLossTheTokenArrives")
		return hunted(slices.Concat([]suite{walks}, soft, strict)...), unit(name, "call", "wander", "strict", "ballot")
	case "tree":
		return hunted(tree...), unit(name, "strict", "ballot")
	case "ring":
		return hunted(ring...), unit(name, "strict", "ballot")
	case "ballot", "strict":
		return hunted(strict...), unit(name, "ballot", "tree", "ring")
	default:
		return hunted(slices.Concat(soft, strict)...), unit(name, "call", "wander", "strict", "ballot")
	}
}

// verdict is who has noticed a mutant. An empty text means that nobody has.
type verdict struct {
	Key, At, Func, Operator, Changed string
	Hunt, Unit                       string
	// Seeds is how many seeds of each kind the hunts had, Seconds how long all took.
	Seeds   int
	Seconds float64
}

// record is a file with the verdicts so far, one a line, so that a run that was stopped goes on.
type record struct {
	path string
	adds sync.Mutex
	of   map[string]verdict
}

func openRecord(t testing.TB, path string) *record {
	t.Helper()
	r := &record{path: path, of: map[string]verdict{}}
	if path == "" {
		return r
	}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s: %v: remove that line", path, err)
		}
		r.of[v.Key] = v
	}
	return r
}

func (r *record) add(t testing.TB, v verdict) {
	t.Helper()
	r.adds.Lock()
	defer r.adds.Unlock()
	r.of[v.Key] = v
	if r.path == "" {
		return
	}
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(v)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// unnoticed is the verdict that nobody has noticed a mutant.
func (m *Foreign) unnoticed() verdict {
	return verdict{Key: m.key(), At: m.At(), Func: m.Func, Operator: m.Operator, Changed: m.changed()}
}

// judge runs the suites that may notice a mutant: unit tests, then hunts. Who has noticed it before is not asked again.
func (set *Set) judge(t testing.TB, m *Foreign, before verdict, seeds int) verdict {
	t.Helper()
	begun := time.Now()
	v := m.unnoticed()
	v.Hunt, v.Unit = before.Hunt, before.Unit
	hunts, units := suites(filepath.ToSlash(filepath.Dir(m.File)), seeds)
	if v.Unit == "" {
		v.Unit = set.noticed(t, m.number, units)
	}
	if v.Hunt == "" && seeds > 0 {
		v.Hunt = set.noticed(t, m.number, hunts)
	}
	v.Seeds = max(seeds, before.Seeds)
	v.Seconds = time.Since(begun).Round(time.Second / 10).Seconds()
	return v
}

// noticed runs suites with a mutant until one of them fails, and returns what has failed, or an empty text. A suite
// that takes much longer than without the mutant, or much more memory, has noticed it, too.
func (set *Set) noticed(t testing.TB, number int, all []suite) string {
	t.Helper()
	for _, s := range all {
		took := set.sound(t, s)
		if number == 0 {
			continue
		}
		if out, passed := set.run(t, number, s, 10*time.Second+3*took); !passed {
			return s.pkg + " " + reason(out)
		}
	}
	return ""
}

// sound returns how long a suite takes without a mutant, which it must pass.
func (set *Set) sound(t testing.TB, s suite) time.Duration {
	t.Helper()
	set.sounds.Lock()
	defer set.sounds.Unlock()
	key := fmt.Sprint(s)
	if took, known := set.took[key]; known {
		return took
	}
	begun := time.Now()
	if out, passed := set.run(t, 0, s, 20*time.Minute); !passed {
		t.Fatalf("%s fails without a mutant: %v\n%s", s.pkg, s.args, out)
	}
	set.took[key] = time.Since(begun)
	return set.took[key]
}

// run runs a suite, which is built once with all mutants in it.
func (set *Set) run(t testing.TB, number int, s suite, most time.Duration) (out string, passed bool) {
	t.Helper()
	program := filepath.Join(filepath.Dir(set.overlay), strings.ReplaceAll(s.pkg, "/", "_")+".test")
	if _, err := os.Stat(program); err != nil {
		build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay",
			set.overlay, "-o", program, "./"+s.pkg)
		build.Dir = set.root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s with its mutants does not build: %v\n%s", s.pkg, err, out)
		}
	}
	const kilobytes = 6 << 20 // A mutant may make a machine allocate for ever.
	args := append([]string{
		"-c", fmt.Sprintf("ulimit -v %d; exec \"$0\" \"$@\"", kilobytes), program, "-test.timeout", most.String(),
		"-test.failfast",
	}, s.args...)
	run := exec.CommandContext(t.Context(), "/bin/sh", args...)
	run.Dir = filepath.Join(set.root, filepath.FromSlash(s.pkg))
	// Several run at once.
	run.Env = append(os.Environ(), variable+"="+strconv.Itoa(number), "GOMAXPROCS=1")
	b, err := run.CombinedOutput()
	return string(b), err == nil
}

// leavesNothing returns what removes the records of failures that property tests with a mutant write beside them.
func leavesNothing(dir string) func() {
	records := filepath.Join(dir, "testdata", "rapid")
	if _, err := os.Stat(records); err == nil {
		return func() {} // They are somebody's.
	}
	return func() { _ = os.RemoveAll(records) }
}

// reason returns the broken rule, or the test that has failed.
func reason(out string) string {
	if found := regexp.MustCompile(`seed \d+: ([a-z]+)`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	if found := regexp.MustCompile(`--- FAIL: (\S+)`).FindStringSubmatch(out); found != nil {
		return found[1]
	}
	return "time"
}
