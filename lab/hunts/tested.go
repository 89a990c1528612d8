package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tested is a family whose hunt is a test, in a program of its own.
type tested struct {
	name    string
	program string
	// folder is its package, and test the expression that chooses the test. flags let it go on after a broken rule.
	folder, test string
	flags        []string
	// reduces is true if it makes what breaks a rule smaller.
	reduces bool
	// seeds is how many it explores at once: as many as fill half a turn.
	seeds uint64
	// guided is true if one seed makes all worlds: each out of those before.
	guided bool
}

// leastSeeds is how many seeds of such a family are explored at once, at least.
const leastSeeds = 100

// testedFamilies builds the programs. That of strict gates is asked for the kinds of gates.
func testedFamilies(ctx context.Context, dir string) (all []family, err error) {
	strict := tested{
		folder: "./policy/ballot", test: "^TestHunt$", flags: []string{"-ballot.all"}, reduces: true, seeds: leastSeeds,
	}
	if err := strict.build(ctx, filepath.Join(dir, "ballot.test")); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, strict.program, strict.args(1, 1)...).Output()
	if err != nil {
		return nil, fmt.Errorf("the hunts of strict gates do not run: %w\n%s", err, out)
	}
	for _, kind := range kinds(out) {
		one := strict
		one.name = "strict, " + strings.ReplaceAll(kind, "_", " ")
		one.test = "^TestHunt$/^" + kind + "$"
		all = append(all, &one)
	}
	guided := strict
	guided.name, guided.test, guided.flags, guided.guided = "strict, guided", "^TestGuidedHunt$", nil, true
	all = append(all, &guided)
	together := tested{
		name: "several gates", folder: "./sim/together", test: "^TestNoSeedBreaksARule$", seeds: leastSeeds,
	}
	return append(all, &together), together.build(ctx, filepath.Join(dir, "together.test"))
}

func (s *tested) build(ctx context.Context, program string) error {
	s.program = program
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, s.folder).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the hunt in %s cannot be built: %w\n%s", s.folder, err, out)
	}
	return nil
}

var kindLine = regexp.MustCompile(`(?m)^=== RUN +TestHunt/(\S+)$`)

// kinds returns the hunts that the test has run.
func kinds(out []byte) (all []string) {
	for _, m := range kindLine.FindAllSubmatch(out, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

func (s *tested) title() string { return s.name }

func (s *tested) args(from, seeds uint64) []string {
	return append([]string{
		"-test.run", s.test, "-test.v", "-test.timeout", "0", "-reduce=false", "-first", strconv.FormatUint(from, 10),
		s.counts(), strconv.FormatUint(seeds, 10),
	}, s.flags...)
}

// counts is the flag that says how many worlds there are.
func (s *tested) counts() string {
	if s.guided {
		return "-ballot.guided"
	}
	return "-seeds"
}

func (s *tested) hunt(ctx context.Context, from uint64, lasts time.Duration) outcome {
	began := time.Now()
	c := exec.CommandContext(ctx, s.program, s.args(from, s.seeds)...)
	c.Env = append(os.Environ(), "GOGC=400")
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return outcome{} // These seeds come again.
	}
	o := read(out)
	if o.seeds == 0 {
		o.err = errors.Join(err, fmt.Errorf("it has not said how many seeds it explored: %s", bytes.TrimSpace(out)))
		return o
	}
	for i := range o.broken {
		seed, worlds := o.broken[i].seed, uint64(1)
		if s.guided {
			worlds = s.seeds
		}
		o.broken[i].show = fmt.Sprintf("go test %s -run '%s' -v -first %d %s %d", s.folder, s.test, seed, s.counts(),
			worlds)
		if s.reduces {
			o.broken[i].smaller = smaller{
				make: func() string { return s.smaller(ctx, seed, worlds) }, ending: "txt",
				replay: "go test " + s.folder + " -run TestOneWorld -v -ballot.plan $PWD/",
			}
		}
	}
	share := float64(lasts) / float64(time.Since(began))
	s.seeds = max(leastSeeds, uint64(float64(s.seeds)*min(share, 4)/2))
	return o
}

// smaller lets the test make the world of a seed smaller. What it prints begins with how a rule is broken.
func (s *tested) smaller(ctx context.Context, seed, worlds uint64) string {
	args := append(s.args(seed, worlds), "-reduce=true")
	out, _ := exec.CommandContext(ctx, s.program, args...).CombinedOutput() // It fails, as before.
	var lines []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "# ") || len(lines) > 0 && strings.Contains(line, " = ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

var (
	seedsLine  = regexp.MustCompile(`seeds from \d+ on: (\d+),`)
	brokenLine = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: seed (\d+): (.*)$`)
	drawnLine  = regexp.MustCompile(`drawn: (.*)`)
	drawnPart  = regexp.MustCompile(`(.+?) (\d+) %(?:, |$)`)
)

// read reads what the test has printed. It says of each thing for which part of the seeds it was drawn.
func read(out []byte) (o outcome) {
	o.drawn = map[string]uint64{}
	if m := seedsLine.FindSubmatch(out); m != nil {
		o.seeds, _ = strconv.ParseUint(string(m[1]), 10, 64)
	}
	seen := map[uint64]bool{}
	for _, m := range brokenLine.FindAllSubmatch(out, -1) {
		seed, _ := strconv.ParseUint(string(m[1]), 10, 64)
		if !seen[seed] { // The first one is told again, with all that it has drawn.
			seen[seed] = true
			o.broken = append(o.broken, broken{seed: seed, rule: string(m[2])})
		}
	}
	if m := drawnLine.FindSubmatch(out); m != nil {
		for _, part := range drawnPart.FindAllSubmatch(m[1], -1) {
			percent, _ := strconv.ParseUint(string(part[2]), 10, 64)
			o.drawn[string(part[1])] = percent * o.seeds / 100
		}
	}
	return o
}
