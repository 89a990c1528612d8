//go:build linux

// Command attack runs fleets of real agents on loopback, attacks them, and prints the consequences: runs of the hook,
// the longest pause between two, overlaps, revivals, CPU and memory of the hungriest agent, lines of the log; then how
// much of the machine other programs used meanwhile, whether the row keeps its bounds, and notes.
//
//	go run ./lab/attack [-agents PATH] [-only NAME] [-for 15s]
//
// Every attack ends by itself, and nothing is sent beyond loopback. An attack that replays must first see the packets
// of loopback, for which the command must be root. The exit status is 1 if a bound is exceeded that no load excuses:
// bytes sent in answer to bytes received, files that must be refused, and memory on a machine that does nothing else. A
// row that misses another bound says "busy" if other programs used the machine, and "known" if SECURITY.md says so.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// attack is one row of the table.
type attack struct {
	name string
	// sealed is true if the fleet has a secret. trusting is true if it also trusts only certified keys.
	sealed, trusting bool
	// run attacks until the fleet reports that the attack is over. It returns what else there is to report.
	run func(f *fleet) (note string, err error)
	// open is true if the attack does harm and SECURITY.md admits it.
	open bool
}

func attacks() []attack {
	return []attack{
		{"nothing", true, false, idle, false},
		{"nothing, without a secret", false, false, idle, false},
		{"junk, 100,000/s", true, false, junk, false},
		{"forged senders, 60,000/s, without a secret", false, false, forge, false},
		{"played back, 15,000/s to each", true, false, playBack, false},
		{"played back, 15,000/s to each, without a secret", false, false, playBack, false},
		{"with the secret: members called dead, 20/s", true, false, defame, true},
		{"the same, only trusted keys", true, true, defame, false},
		{"with the secret: 5,000 members invented", true, false, invent, true},
		{"the same, only trusted keys", true, true, invent, false},
		{"with the secret: members said to leave, 20/s", true, false, dismiss, false},
		{"a member of another gate on the token, 20/s", true, true, slander("other"), false},
		{"a member of the gate on the token, 20/s", true, true, slander(hosts.GateName), true},
		{"a member of the gate passes on what it makes up", true, true, forgeTokens, false},
		{"pings for a third address, without a secret", false, false, reflect, false},
		{"500 idle connections to each", true, false, besieged(500, hold), false},
		{"32 connections of ten bytes to each", true, false, besieged(32, tenBytes), false},
		{"connections that fill", true, false, besieged(32, fill("", 4<<20)), false},
		{
			"connections that fill, without a secret", false, false,
			besieged(32, fill(introduction()+longName, longest)),
			false,
		},
		{
			"a header of 2^20 nodes, without a secret", false, false, besieged(32, fill(introduction()+manyNodes, 0)),
			false,
		},
		{"frames that never end, without a secret", false, false, neverEnd(longest), false},
		{"with the secret: frames that never end, trusted keys", true, true, neverEnd(longest), false},
		{"with the secret: 4 MiB that never end, trusted keys", true, true, neverEnd(4 << 20), true},
		{"500 idle connections to the metrics of each", true, false, idleScrapes, false},
		{"500 idle connections to each control socket", true, false, idleControl, false},
		{"files that others can replace", true, false, files, false},
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
		if agents, err = hosts.Build(".", dir); err != nil {
			return err
		}
	}
	var chosen []attack
	for _, a := range attacks() {
		if strings.Contains(a.name, only) {
			chosen = append(chosen, a)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("%d agents, %d cores, load %s; %d rows of %s take some %s. CPU in seconds and memory of the agent "+
		"that used most of it; others: the share of\n"+
		"all cores that other programs used; runs: of %.0f possible\n", size, runtime.NumCPU(),
		strings.Join(strings.Fields(string(load))[:3], " "),
		len(chosen), length, (time.Duration(len(chosen)) * (length + overhead)).Round(10*time.Second), possible(length))
	fmt.Printf("%-52s %5s %7s %7s %7s %6s %7s %5s %6s  %s\n", "attack", "runs", "pause", "overlap", "revived", "CPU",
		"memory", "lines", "others", "")
	exceeded := false
	for i, a := range chosen {
		hard, err := one(&a, agents, filepath.Join(dir, fmt.Sprint(i)), length)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		exceeded = exceeded || hard
	}
	if exceeded {
		return errors.New("a bound is exceeded that does not depend on how busy the machine is")
	}
	return nil
}

// overhead is what a row takes in addition to its attack, on a machine that does nothing else.
const overhead = 11 * time.Second

// possible returns how many runs fit in: each agent runs once in two seconds.
func possible(length time.Duration) float64 { return length.Seconds() / 2 * size }

// one starts a fleet, waits until it works, attacks it, and prints a row.
func one(a *attack, agents, dir string, length time.Duration) (hard bool, err error) {
	f, err := newFleet(agents, dir, a, length)
	if err != nil {
		return false, err
	}
	defer f.stop()
	if err := f.settle(); err != nil {
		fmt.Printf("%-52s not measured: %v\n", a.name, err)
		return false, nil
	}
	f.begin()
	before := f.figures()
	f.begun = func() { before = f.figures() }
	note, err := a.run(f)
	if err != nil {
		note = err.Error()
	}
	time.Sleep(time.Until(f.end))
	after := f.figures()
	others := after.others(&before)
	runs, err := f.runs()
	if err != nil {
		return false, err
	}
	s := summarise(runs, f.start, f.end)
	text, hard := verdict(f, s, after.revived-before.revived, after.memory, others)
	if note != "" {
		text += "; " + note
	}
	fmt.Printf("%-52s %5d %6.2fs %6.2fs %7d %6.2f %4.0f MB %5d %5.0f%%  %s\n", a.name, s.runs, s.pause.Seconds(),
		s.overlap.Seconds(),
		after.revived-before.revived, after.most(&before), after.memory/(1<<20), after.lines-before.lines, 100*others,
		text)
	return hard, nil
}
