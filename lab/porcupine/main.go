// Command porcupine asks whether the journal of a chaos trial can be that of a lock with rising fencing numbers:
// whether there is an order of all grants and releases that respects their times and that such a lock could have
// produced.
//
//	go -C lab/porcupine run . JOURNAL...
//
// It knows nothing of how lab/chaos sweeps a journal, so the two check each other. It is a module of its own, which
// keeps the checker out of the product's go.sum.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience bounds the search of one journal.
const patience = 5 * time.Minute

func main() {
	failed := len(os.Args) < 2
	for _, path := range os.Args[1:] {
		verdict, operations, err := check(path)
		if err != nil {
			verdict = porcupine.CheckResult(err.Error())
		}
		fmt.Printf("%s: %d operations: %s\n", path, operations, verdict)
		failed = failed || verdict != porcupine.Ok
	}
	if failed {
		os.Exit(1)
	}
}

func check(path string) (porcupine.CheckResult, int, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = file.Close() }()
	history, err := read(file)
	return porcupine.CheckOperationsTimeout(lock(), history, patience), len(history), err
}

// act is an operation on the lock: a grant with a number, or the release of that grant.
type act struct {
	seq     uint64
	release bool
}

// state is the state of the lock: the greatest number so far, and whether its grant is held.
type state struct {
	seq  uint64
	held bool
}

// lock grants one at a time, with a number above all earlier ones.
func lock() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return state{} },
		Step: func(before, input, _ any) (bool, any) {
			s, a := before.(state), input.(act)
			if a.release {
				return s.held && s.seq == a.seq, state{seq: s.seq}
			}
			return !s.held && a.seq > s.seq, state{seq: a.seq, held: true}
		},
	}
}

// read makes operations of a journal. A grant has been made by the time its command starts, and it has not been
// released while the command gives signs of life. No record tells when the release of a grant took effect: it may have
// been at any time after that.
func read(journal io.Reader) (history []porcupine.Operation, err error) {
	type key struct {
		seq uint64
		pid int
	}
	releases := map[key]int{}
	var clients int
	lines := bufio.NewScanner(journal)
	for lines.Scan() {
		var what, name string
		var k key
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &what, &k.seq, &name, &k.pid, &at); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if what == "start" {
			history = append(history,
				porcupine.Operation{ClientId: clients, Input: act{seq: k.seq}, Call: at, Return: at},
				porcupine.Operation{
					ClientId: clients + 1, Input: act{seq: k.seq, release: true}, Return: math.MaxInt64,
				})
			clients += 2
			releases[k] = len(history) - 1
		}
		i, ok := releases[k]
		if !ok {
			return nil, fmt.Errorf("line %q: it has not started", lines.Text())
		}
		history[i].Call = at
	}
	return history, lines.Err()
}
