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

// strict is a kind of strict gate. Its hunt is a test of package ballot, in a program of its own.
type strict struct {
	program, kind string
	// seeds is how many it explores at once: as many as fill half a turn.
	seeds uint64
}

// leastSeeds is how many seeds of a strict gate are explored at once, at least.
const leastSeeds = 100

// strictFamilies builds the program, and asks it for the kinds of gates.
func strictFamilies(ctx context.Context, dir string) (all []family, err error) {
	program := filepath.Join(dir, "ballot.test")
	out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./policy/ballot").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("the hunts of strict gates cannot be built: %w\n%s", err, out)
	}
	one := []string{"-test.run", "^TestHunt$", "-test.v", "-first", "1", "-seeds", "1"}
	out, err = exec.CommandContext(ctx, program, one...).Output()
	if err != nil {
		return nil, fmt.Errorf("the hunts of strict gates do not run: %w\n%s", err, out)
	}
	for _, kind := range kinds(out) {
		all = append(all, &strict{program: program, kind: kind, seeds: leastSeeds})
	}
	return all, nil
}

var kindLine = regexp.MustCompile(`(?m)^=== RUN +TestHunt/(\S+)$`)

// kinds returns the hunts that the test has run.
func kinds(out []byte) (all []string) {
	for _, m := range kindLine.FindAllSubmatch(out, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

func (s *strict) title() string { return "strict, " + strings.ReplaceAll(s.kind, "_", " ") }

func (s *strict) args(from, seeds uint64) []string {
	return []string{
		"-test.run", "^TestHunt$/^" + s.kind + "$", "-test.v", "-test.timeout", "0", "-ballot.all", "-first",
		strconv.FormatUint(from, 10), "-seeds", strconv.FormatUint(seeds, 10),
	}
}

func (s *strict) hunt(ctx context.Context, from uint64, lasts time.Duration) outcome {
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
		o.broken[i].show = fmt.Sprintf("go test ./policy/ballot -run '^TestHunt$/^%s$' -v -ballot.show -first %d "+
			"-seeds 1", s.kind, o.broken[i].seed)
	}
	share := float64(lasts) / float64(time.Since(began))
	s.seeds = max(leastSeeds, uint64(float64(s.seeds)*min(share, 4)/2))
	return o
}

var (
	seedsLine  = regexp.MustCompile(`seeds from \d+ on: (\d+),`)
	brokenLine = regexp.MustCompile(`(?m)^ +hunt_test\.go:\d+: seed (\d+): (.*)$`)
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
