package mutant

import (
	"cmp"
	"flag"
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

var (
	guidedFor  = flag.Duration("guided", 0, "hunt each known-bad protocol for that time, guided and drawn")
	guidedRuns = flag.Int("guided.runs", 1, "how often, each time from another first seed")
	guidedOnly = flag.String("guided.only", "", "only mutants whose folder and name this expression matches")
	guidedPage = flag.String("guided.page", "", "a file for the table")
	guidedLog  = flag.String("guided.log", "", "a file for what each hunt has said")
)

// guidedFolders have the known-bad protocols whose hunts can be guided, and those of their parts, each with the policy
// that is hunted.
func guidedFolders() [][2]string {
	return [][2]string{
		{"sim/fleet/call/testdata/mutants", "call"},
		{"policy/call/testdata/mutants", "call"},
		{"policy/guardian/testdata/mutants", "call"},
		{"policy/handoff/testdata/mutants", "call"},
		{"sim/fleet/wander/testdata/mutants", "wander"},
	}
}

// huntResult is what one hunt of a mutant has come to.
type huntResult struct {
	found  bool
	worlds int
	took   time.Duration
	rule   string
}

var huntedLine = regexp.MustCompile(`hunted: (nothing|found) in (\d+) worlds, \d+ steps, (\S+?)(?:: (\w+).*)?\n`)

// oneHunt runs a hunt in a program with mutants.
func (set *Set) oneHunt(
	t *testing.T, program, policy string, m *Mutant, guided bool, first uint64,
) (h huntResult) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, "-test.run", "^TestOneHunt$", "-test.v", "-hunt.policy", policy,
		"-hunt.for", guidedFor.String(), "-hunt.first", strconv.FormatUint(first, 10),
		fmt.Sprintf("-hunt.guided=%v", guided))
	c.Dir, c.Env = set.root, append(os.Environ(), variable+"="+strconv.Itoa(m.number), "GOGC=400")
	out, err := c.CombinedOutput()
	said := huntedLine.FindStringSubmatch(string(out))
	if err != nil || said == nil {
		t.Fatalf("%s: %v\n%s", m.Name, err, out)
	}
	if *guidedLog != "" {
		f, err := os.OpenFile(*guidedLog, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = fmt.Fprintf(f, "%s guided %v first %d: %s\n", m.Name, guided, first, out)
			_ = f.Close()
		}
	}
	h.found, h.rule = said[1] == "found", said[4]
	h.worlds, _ = strconv.Atoi(said[2])
	h.took, _ = time.ParseDuration(said[3])
	return h
}

// With -guided 60s this hunts each known-bad protocol for a minute, guided and drawn side by side, each on one
// core, and writes a table.
func TestGuidedBesideDrawn(t *testing.T) {
	if *guidedFor == 0 {
		t.Skip("it takes long: give it -guided and a time")
	}
	var rows []compared
	only := regexp.MustCompile(*guidedOnly)
	for _, hunted := range guidedFolders() {
		folder, policy := hunted[0], hunted[1]
		set := Load(t, "../..", filepath.Join("../..", folder))
		set.Mutants = slices.DeleteFunc(set.Mutants, func(m *Mutant) bool {
			return !only.MatchString(folder + "/" + m.Name)
		})
		if len(set.Mutants) == 0 {
			continue
		}
		program := filepath.Join(t.TempDir(), "hunt.test")
		build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay",
			set.overlay, "-o", program, "./sim/hunt")
		build.Dir = set.root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, m := range set.Mutants {
			row := compared{folder: folder, name: m.Name}
			for i := range *guidedRuns {
				var both [2]huntResult
				var side sync.WaitGroup
				for k := range both {
					side.Go(func() { both[k] = set.oneHunt(t, program, policy, m, k == 1, uint64(1+i*1_000_000)) })
				}
				side.Wait()
				row.drawn, row.guided = append(row.drawn, both[0]), append(row.guided, both[1])
			}
			t.Logf("%s | drawn %s | guided %s", row.name, tell(row.drawn), tell(row.guided))
			rows = append(rows, row)
		}
	}
	written(t, *guidedPage, comparedTable(rows))
}

// compared are the hunts of one mutant.
type compared struct {
	folder, name  string
	drawn, guided []huntResult
}

// tell writes the hunts of one kind: how many have found it, and the median time and number of worlds of all.
func tell(all []huntResult) string {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b huntResult) int {
		if a.found != b.found {
			return map[bool]int{true: -1, false: 1}[a.found]
		}
		return cmp.Compare(a.took, b.took)
	})
	found := 0
	for _, h := range all {
		if h.found {
			found++
		}
	}
	if median := sorted[(len(sorted)-1)/2]; median.found {
		return fmt.Sprintf("%d of %d, %.1f s, %d worlds", found, len(all), median.took.Seconds(), median.worlds)
	}
	return fmt.Sprintf("%d of %d", found, len(all))
}

func comparedTable(rows []compared) string {
	var b strings.Builder
	b.WriteString("| package | mutant | drawn | guided |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.TrimSuffix(r.folder, "/testdata/mutants"), r.name,
			tell(r.drawn), tell(r.guided))
	}
	return b.String()
}
