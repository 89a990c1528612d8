// Command attack runs fleets of real agents on loopback, attacks them, and prints what became of them: runs of the hook, the longest
// pause between two, overlaps, revivals, CPU and memory of the hungriest agent, lines of the log.
//
//	go run ./tools/attack [-agents PATH] [-only NAME] [-for 15s]
//
// Every attack ends by itself, and nothing is sent beyond loopback. What plays back has to see the packets of loopback first, for
// which it must be root.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// attack is one row of the table.
type attack struct {
	name string
	// sealed says that the fleet has a secret, trusting that it trusts certified keys only besides.
	sealed, trusting bool
	// run attacks until the fleet says that it is over, and returns what else there is to tell.
	run func(f *fleet) (note string, err error)
}

func attacks() []attack {
	return []attack{
		{"nothing", true, false, idle},
		{"nothing, without a secret", false, false, idle},
		{"junk, 100,000/s", true, false, junk},
		{"forged senders, 60,000/s, without a secret", false, false, forge},
		{"played back, 15,000/s to each", true, false, playBack},
		{"played back, 15,000/s to each, without a secret", false, false, playBack},
		{"with the secret: members called dead, 20/s", true, false, defame},
		{"the same, only trusted keys", true, true, defame},
		{"with the secret: 5,000 members invented", true, false, invent},
		{"the same, only trusted keys", true, true, invent},
		{"with the secret: members said to leave, 20/s", true, false, dismiss},
		{"a member of another gate on the token, 20/s", true, true, slander("other")},
		{"a member of the gate on the token, 20/s", true, true, slander("default")},
		{"pings for a third address, without a secret", false, false, reflect},
		{"500 idle connections to each", true, false, idleConnections},
		{"32 connections of ten bytes to each", true, false, tenBytes},
		{"connections that fill", true, false, fillSealed},
		{"connections that fill, without a secret", false, false, fillClear},
		{"a header of 2^20 nodes, without a secret", false, false, announceNodes},
		{"frames that never end, without a secret", false, false, dawdle},
	}
}

func main() {
	agents := flag.String("agents", "", "the program to attack; by default it is built")
	only := flag.String("only", "", "the attacks whose names contain this")
	length := flag.Duration("for", 15*time.Second, "how long each attack takes")
	flag.Parse()
	if err := measure(*agents, *only, *length); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func measure(agents, only string, length time.Duration) error {
	dir, err := os.MkdirTemp("", "wanderd-attack-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if agents == "" {
		agents = filepath.Join(dir, "wanderd")
		build := exec.Command("go", "build", "-o", agents, "github.com/wanderd/wanderd/cmd/wanderd")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	fmt.Printf("%d agents, %d cores, %s each; CPU in seconds and memory of the agent that used most of it\n", size, runtime.NumCPU(), length)
	fmt.Printf("%-48s %5s %7s %7s %7s %6s %7s %5s  %s\n", "attack", "runs", "pause", "overlap", "revived", "CPU", "memory", "lines", "")
	for i, a := range attacks() {
		if !strings.Contains(a.name, only) {
			continue
		}
		if err := one(a, agents, filepath.Join(dir, fmt.Sprint(i)), length); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// one starts a fleet, waits until it works, attacks it, and prints a row.
func one(a attack, agents, dir string, length time.Duration) error {
	f, err := newFleet(agents, dir, a.sealed, a.trusting, length)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.settle(); err != nil {
		return err
	}
	before := f.figures()
	f.begin()
	note, err := a.run(f)
	if err != nil {
		note = err.Error()
	}
	time.Sleep(time.Until(f.end))
	after := f.figures()
	runs, err := f.runs()
	if err != nil {
		return err
	}
	s := summarise(runs, f.start, f.end)
	fmt.Printf("%-48s %5d %6.2fs %6.2fs %7d %6.2f %4.0f MB %5d  %s\n", a.name, s.runs, s.pause.Seconds(), s.overlap.Seconds(),
		after.revived-before.revived, after.most(before), after.memory/(1<<20), after.lines-before.lines, note)
	return nil
}
