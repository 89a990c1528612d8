//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// lease is the lease of a strict gate here: short, so that much happens in a trial. It exceeds two renewals, killAfter
// and the guard's margin.
const (
	lease     = 3 * time.Second
	killAfter = 300 * time.Millisecond
)

// patience bounds the wait until the fleet works, before the faults and after them.
const patience = 60 * time.Second

// trial is a fleet under faults.
type trial struct {
	policy  string
	members int
	length  time.Duration
	seed    uint64
	// program is wanderd and self is this program. dir is where the trial's files are.
	program, self, dir string
	network            *hosts.Network

	fleet   *hosts.Fleet
	journal string
	trace   io.WriteCloser
	// struck counts the faults by kind. ends counts how callers ended, by exit code; -1 is a caller that was killed.
	struck map[string]int
	mu     sync.Mutex
	ends   map[int]int
	err    error
	verdict
}

func (t *trial) gate() string {
	return fmt.Sprintf("hook = [%q, %q, %q, \"150ms\"]\nmin_interval = \"2s\"\nhook_timeout = \"1m\"\n", t.self,
		recorder, t.journal) +
		hosts.Policy(t.policy, t.members, lease, killAfter)
}

// run tries a fleet: it lets callers and hooks run, harms the hosts, heals them, waits until every host is served
// again, and reads what the commands have recorded.
func (t *trial) run() (err error) {
	t.struck, t.ends, t.journal = map[string]int{}, map[int]int{}, filepath.Join(t.dir, "journal")
	if t.trace, err = os.Create(filepath.Join(t.dir, "trace")); err != nil {
		return err
	}
	defer func() { _ = t.trace.Close() }()
	t.fleet, err = hosts.New(hosts.Settings{
		Size: t.members, Program: t.program, Dir: t.dir, Network: t.network,
		Top: "skip = \"100ms\"\nstop_timeout = \"1s\"", Gate: t.gate(),
	})
	if err != nil {
		return err
	}
	defer t.fleet.Close()
	if err := t.fleet.Start(patience); err != nil {
		return err
	}
	var callers sync.WaitGroup
	stop := make(chan struct{})
	dice := rand.New(rand.NewPCG(t.seed, 0))
	for i, h := range t.fleet.Hosts {
		callers.Go(func() { t.callers(h, rand.New(rand.NewPCG(t.seed, uint64(i)+1)), stop) })
	}
	t.harm(dice, time.Now().Add(t.length))
	close(stop)
	callers.Wait()
	for _, h := range t.fleet.Hosts {
		t.try(h.Start())
	}
	for _, h := range t.fleet.Hosts {
		t.try(t.served(h))
	}
	t.fleet.Close()
	file, err := os.Open(t.journal)
	if err != nil {
		return errors.Join(t.err, err)
	}
	defer func() { _ = file.Close() }()
	holds, err := hosts.ReadJournal(file)
	t.verdict = sweep(holds)
	return errors.Join(t.err, err)
}

// try keeps the first error of the trial itself.
func (t *trial) try(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// callers lets one caller after the other run a command on a host.
func (t *trial) callers(h *hosts.Host, dice *rand.Rand, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(dice.Int64N(int64(300 * time.Millisecond)))):
		}
		t.end(t.command(h, dice).Run())
	}
}

// command returns a caller's command. Now and then its command takes longer than a lease; one in four commands ignores
// SIGTERM, and one in three is the child of another one.
func (t *trial) command(h *hosts.Host, dice *rand.Rand) *exec.Cmd {
	work := time.Duration(dice.Int64N(int64(300 * time.Millisecond)))
	if dice.IntN(20) == 0 {
		work = lease * 3 / 2
	}
	args := []string{"--wait", "5s", "--kill-after", killAfter.String(), "--"}
	if dice.IntN(3) == 0 {
		args = append(args, "sh", "-c", `"$0" "$@"; exit $?`)
	}
	args = append(args, t.self, recorder, t.journal, work.String())
	if dice.IntN(4) == 0 {
		args = append(args, "deaf")
	}
	return h.Wanderd("exec", args...)
}

func (t *trial) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		t.ends[exit.ExitCode()]++
	} else {
		t.ends[0]++
	}
}

// served waits until a host is granted the gate. If a fault kills an agent, its callers end too, so they ask again.
func (t *trial) served(h *hosts.Host) error {
	cmd := h.Wanderd("exec", "--wait", patience.String(), "--", "true")
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s is not served any more after the faults: %w: %s", h.Name, err, said)
	}
	return nil
}
