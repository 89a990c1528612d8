package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// family is a protocol, with its worlds and rules, that is hunted.
type family interface {
	// title names it.
	title() string
	// hunt explores seeds from the given one on, for that time, and returns what came of it. It may end early.
	hunt(ctx context.Context, from uint64, lasts time.Duration) outcome
}

// outcome is what one turn of a family has led to.
type outcome struct {
	// seeds is how many seeds count, without a gap.
	seeds uint64
	// drawn is how many of them have drawn each thing.
	drawn map[string]uint64
	// never is what has never occurred in all turns so far, of what has to.
	never []string
	// broken are the seeds that broke a rule.
	broken []broken
	// marks are the rare branches of all turns so far, if the machines mark any.
	marks marksReached
	// err is why there is nothing else.
	err error
}

// marksReached are rare branches: how often each was taken, which never were, and how many pairs of two in a row there
// were.
type marksReached struct {
	often map[string]uint64
	never []string
	pairs int
}

// broken is a seed that broke a rule.
type broken struct {
	seed uint64
	// guided is true if the number is that of a world in a guided hunt, and no seed.
	guided bool
	rule   string
	// show is the command that shows it.
	show    string
	smaller smaller
}

// smaller is a world that breaks the same rule, and has less in it. It is zero if nobody makes one.
type smaller struct {
	// make makes it, and returns it as its file has it.
	make func() string
	// ending is that of its file. The command that shows it is replay with the name of the file at its end.
	ending, replay string
	// file is its name, once there is one.
	file string
}

// scenario is a smaller world that a scenario describes.
func scenario(made func() string) smaller {
	return smaller{make: made, ending: "toml", replay: "wanderd sim trace --scenario "}
}

// tally is what has come of a family so far.
type tally struct {
	family
	// next is the seed that comes next.
	next  uint64
	took  time.Duration
	total outcome
}

// turn hunts for that time. save is called as soon as a rule was broken, before a smaller scenario is looked for.
func (t *tally) turn(ctx context.Context, lasts time.Duration, dir string, save func() error) {
	began := time.Now()
	defer func() { t.took += time.Since(began) }()
	for left := lasts; left > 0 && ctx.Err() == nil; left = lasts - time.Since(began) {
		o := t.hunt(ctx, t.next, left)
		t.next += o.seeds
		t.add(&o)
		if o.err != nil {
			return
		}
		for i := range o.broken {
			t.total.broken = append(t.total.broken, o.broken[i])
			if save() != nil { // What is wrong with the page is told at the end of the turn.
				return
			}
			b := &t.total.broken[len(t.total.broken)-1]
			b.smaller.write(dir, fmt.Sprintf("%s-%d", t.title(), b.seed))
		}
		if o.seeds == 0 {
			return
		}
	}
}

// add counts an outcome, except for its broken rules.
func (t *tally) add(o *outcome) {
	t.total.seeds += o.seeds
	if t.total.drawn == nil {
		t.total.drawn = map[string]uint64{}
	}
	for what, n := range maps.All(o.drawn) {
		t.total.drawn[what] += n
	}
	if t.total.err = o.err; o.seeds > 0 {
		t.total.never, t.total.marks = o.never, o.marks
	}
}

// number says which seed or world it was.
func (b *broken) number() string {
	if b.guided {
		return fmt.Sprintf("world %d", b.seed)
	}
	return fmt.Sprintf("seed %d", b.seed)
}

// write makes it, and writes it to a file of that name. Instead of the file it names why there is none.
func (s *smaller) write(dir, name string) {
	if s.make == nil {
		return
	}
	s.file = strings.NewReplacer(" ", "-", ",", "").Replace(name) + "." + s.ending
	if err := os.WriteFile(filepath.Join(dir, s.file), []byte(s.make()), 0o600); err != nil {
		s.file = err.Error()
	}
}
