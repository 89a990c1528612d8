//go:build linux

// Command directives gives directives to fleets of real agents, each on a host of its own, and checks that they are
// obeyed.
//
//	go run ./lab/directives [-members 10] [-pauses 100] [-away 3] [-lost 50] [-dir DIR]
//
// The first fleet is always busy. One host after the other gives a pause. It must be in force on all hosts within two
// seconds, with and without loss: then no run begins, and runs that go on end as usual. A member that was stopped, cut
// off or restarted meanwhile begins no run when it is back. In the second fleet the brake pauses the gate after
// failures on three hosts, but not after three failures on one. All members still know of that pause after all of them
// were restarted.
//
// The hosts are network namespaces, for which the command must be root.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// within is how soon a directive has to be in force on all hosts.
const within = 2 * time.Second

func main() {
	members := flag.Int("members", 10, "how many agents a fleet has")
	pauses := flag.Int("pauses", 100, "how many pauses there are with loss, and without")
	away := flag.Int("away", 3, "how often a member is away in each way")
	lost := flag.Int("lost", 50, "of 1,000 packets so many are lost")
	dir := flag.String("dir", "", "where logs are kept; by default they are removed")
	flag.Parse()
	if err := drill(*members, *pauses, *away, *lost, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "directives:", err)
		os.Exit(1)
	}
}

func drill(members, pauses, away, lost int, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wanderd-directives-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	program, err := hosts.Build(".", dir)
	if err != nil {
		return err
	}
	network, err := hosts.NewNetwork(members)
	if err != nil {
		return err
	}
	defer network.Close()
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	s := hosts.Settings{Size: members, Program: program, Network: network}
	s.Dir = filepath.Join(dir, "busy")
	if err := inWorld(s, busy, say, func(w *world) error {
		return errors.Join(w.pauses(pauses, 0), w.pauses(pauses, lost), w.absences(away))
	}); err != nil {
		return err
	}
	s.Dir = filepath.Join(dir, "brake")
	return inWorld(s, braked, say, (*world).brake)
}
