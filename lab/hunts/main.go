// Command hunts lets all that is hunted have its turn, for a time, on all cores, and writes one page: how many seeds
// were explored, what they have drawn, what never occurred, which rare branches were never taken, and what broke a
// rule. Where machines mark such branches, a family has two turns: one is drawn, and one guided by the marks.
//
//	go run ./lab/hunts [-for 8h] [-seed 20261126000000] [-page hunts.md]
//
// A seed that breaks a rule ends nothing. It is on the page at once, with the command that shows it; a smaller scenario
// that breaks the same rule, where there is one, is in a file beside the page. The page is written again after each
// turn, so a hunt that is ended early has lost nothing. The exit code is 1 if a rule was broken.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	lasts := flag.Duration("for", 8*time.Hour, "how long all hunts take together")
	seed := flag.Uint64("seed", ofToday(time.Now()), "the first seed of each; by default another one each day")
	page := flag.String("page", "hunts.md", "the file with what has come of it; scenarios are beside it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *lasts, *seed, *page); err != nil {
		fmt.Fprintln(os.Stderr, "hunts:", err)
		os.Exit(1)
	}
}

// ofToday is the first seed of a day: a day has a million million.
func ofToday(now time.Time) uint64 {
	day, _ := strconv.ParseUint(now.Format("20060102"), 10, 64)
	return day * 1_000_000
}

func run(ctx context.Context, lasts time.Duration, first uint64, path string) error {
	if lasts <= 0 {
		return fmt.Errorf("-for %v: a hunt needs some time, for example 8h", lasts)
	}
	dir, err := os.MkdirTemp("", "hunts-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	families := softFamilies()
	tested, err := testedFamilies(ctx, dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lasts) // What is built is not hunted yet.
	defer cancel()
	return all(ctx, append(families, tested...), plan{lasts: lasts, first: first, path: path})
}

// plan is for how long, and from which seed, all families are hunted, and where the page is.
type plan struct {
	lasts time.Duration
	first uint64
	path  string
}

// mostTurn is how long a family's turn lasts at most. Each has at least two in any hunt.
const mostTurn = 2 * time.Minute

// errBroken says that the page has seeds that break a rule.
var errBroken = errors.New("seeds break a rule")

// all hunts the families in turn until the time is over.
func all(ctx context.Context, families []family, p plan) error {
	if len(families) == 0 {
		return errors.New("nothing is hunted")
	}
	w := page{path: p.path, began: time.Now()}
	turn := min(mostTurn, p.lasts/time.Duration(2*len(families)))
	for _, f := range families {
		w.tallies = append(w.tallies, &tally{family: f, next: p.first})
	}
	for ctx.Err() == nil {
		for _, t := range w.tallies {
			if ctx.Err() == nil {
				t.turn(ctx, turn, filepath.Dir(p.path), w.write)
			}
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	fmt.Println("written:", p.path)
	if n := w.broken(); n > 0 {
		return fmt.Errorf("%d %w: %s", n, errBroken, p.path)
	}
	return nil
}
