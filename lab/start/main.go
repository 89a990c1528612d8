//go:build linux

// Start measures the cost of a start of wanderd: "wanderd exec -- true" asks for the gate of a lone agent that holds
// the token, and flock(1) runs the same command, in turn. It prints medians of the time until the command is over, as a
// clock on the wall shows it, and of the processors' time of the command and all its children; and the median of the
// pairs' ratios of each. The agent's own processor time is not in it.
//
//	go run ./lab/start [-rounds 50] [PROGRAM...]
//
// Several builds of wanderd are measured in turn, each with an agent of its own, so that the effect of a change shows.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

func main() {
	rounds := flag.Int("rounds", 50, "how often each command runs")
	flag.Parse()
	if err := run(flag.Args(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "start:", err)
		os.Exit(1)
	}
}

// contender is one command that is measured.
type contender struct {
	name string
	argv []string
	// took is the time on the wall of each run, cpu the processors' time.
	took, cpu []time.Duration
}

func (c *contender) run() error {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w\n%s", c.argv, err, out)
	}
	c.took = append(c.took, time.Since(began))
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	return nil
}

func run(programs []string, rounds int) (err error) {
	dir, err := os.MkdirTemp("", "wanderd-start-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if len(programs) == 0 {
		built, err := hosts.Build(".", dir)
		if err != nil {
			return err
		}
		programs = []string{built}
	}
	all := []*contender{
		{name: "true", argv: []string{"true"}},
		{name: "flock", argv: []string{"flock", filepath.Join(dir, "lock"), "true"}},
	}
	for i, program := range programs {
		fleet, err := alone(program, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		defer fleet.Close()
		all = append(all, &contender{name: program + " version", argv: []string{program, "version"}},
			&contender{name: program + " exec", argv: []string{
				program, "exec", "--socket", fleet.Hosts[0].Socket(), "--", "true",
			}})
	}
	for range rounds {
		for _, c := range all {
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	flock := all[1]
	for _, c := range all {
		fmt.Printf("%-40s %6.2f ms, %5.2f × flock;  processors %6.2f ms, %5.2f × flock\n", c.name,
			median(c.took).Seconds()*1000, ratio(c.took, flock.took), median(c.cpu).Seconds()*1000,
			ratio(c.cpu, flock.cpu))
	}
	return nil
}

// ratio returns the median of the ratios of pairs.
func ratio(these, those []time.Duration) float64 {
	var ratios []float64
	for i := range these {
		ratios = append(ratios, float64(these[i])/float64(those[i]))
	}
	return median(ratios)
}

func median[T int | float64 | time.Duration](values []T) T {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}

// alone starts an agent whose gate has no hook.
func alone(program, dir string) (*hosts.Fleet, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	fleet, err := hosts.New(hosts.Settings{Dir: dir, Program: program, Size: 1})
	if err != nil {
		return nil, err
	}
	if err := fleet.Start(time.Minute); err != nil {
		fleet.Close()
		return nil, err
	}
	return fleet, nil
}
