//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/hosts"
)

const (
	// within bounds every wait for something that must happen.
	within = 2 * time.Minute
	// calm is for how long nothing happens before each loss: a fleet that has just grown asks around.
	calm = 3 * time.Second
	// settles is how long agents that have joined ask others for the whole membership, and announce homes.
	settles = 10 * time.Second
)

// drill is a fleet that loses its token again and again.
type drill struct {
	*hosts.Fleet
}

func newDrill(s hosts.Settings) (*drill, error) {
	f, err := hosts.New(s)
	if err != nil {
		return nil, err
	}
	if err := f.Start(within); err != nil {
		f.Close()
		return nil, err
	}
	return &drill{f}, nil
}

// call is a command that waits for the gate, and prints when it starts.
type call struct {
	cmd       *exec.Cmd
	out, said bytes.Buffer
	asked     time.Time
}

// call starts a command on a host.
func (d *drill) call(h *hosts.Host) (*call, error) {
	c := &call{cmd: h.Wanderd("exec", "--", "date", "+%s%N"), asked: time.Now()}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.said
	return c, c.cmd.Start()
}

// ran waits for the end of the command, and returns when it started.
func (c *call) ran() (time.Time, error) {
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return time.Time{}, fmt.Errorf("%w: %s", err, c.said.Bytes())
		}
	case <-time.After(within):
		_ = c.cmd.Process.Kill()
		return time.Time{}, fmt.Errorf("no grant within %s: %w", within, <-done)
	}
	nanos, err := strconv.ParseInt(strings.TrimSpace(c.out.String()), 10, 64)
	return time.Unix(0, nanos), err
}

// run runs a command on a host.
func (d *drill) run(h *hosts.Host) error {
	c, err := d.call(h)
	if err == nil {
		_, err = c.ran()
	}
	return err
}

// gate returns what a host says of the gate.
func gate(h *hosts.Host) (control.Gate, error) {
	s, err := h.Status()
	if err != nil {
		return control.Gate{}, err
	}
	if s.Gates[0].Called == nil {
		return s.Gates[0], errors.New("its gate is not on call")
	}
	return s.Gates[0], nil
}

// homes returns the hosts that queue the callers of a host, the first one first.
func (d *drill) homes(h *hosts.Host) (homes []*hosts.Host, err error) {
	g, err := gate(h)
	if err != nil {
		return nil, err
	}
	for _, home := range g.Called.Homes {
		i := slices.IndexFunc(d.Hosts, func(h *hosts.Host) bool { return h.Name == home.Name })
		if i < 0 {
			return nil, fmt.Errorf("the home %q is no host", home.Name)
		}
		homes = append(homes, d.Hosts[i])
	}
	return homes, nil
}

// others returns some hosts in a random order, without the given ones.
func (d *drill) others(without ...*hosts.Host) []*hosts.Host {
	left := slices.DeleteFunc(slices.Clone(d.Hosts), func(h *hosts.Host) bool { return slices.Contains(without, h) })
	rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	return left
}

// rest counts messages while no host wants anything: each has run a command.
func (d *drill) rest(watched time.Duration) error {
	for _, h := range d.Hosts {
		if err := d.run(h); err != nil {
			return err
		}
	}
	time.Sleep(calm)
	before := load()
	if err := d.Network.Count(); err != nil {
		return err
	}
	sent := d.sent()
	time.Sleep(watched)
	count, err := d.Network.Counted()
	if err != nil {
		return err
	}
	fmt.Printf("at rest for %s, %d hosts: %d messages, %d by the agents' own count (load %s, %s)\n", watched,
		len(d.Hosts), count, d.sent()-sent, before, load())
	return nil
}

// sent is how many messages all agents say they have sent.
func (d *drill) sent() (total uint64) {
	for _, h := range d.Hosts {
		if g, err := gate(h); err == nil {
			for _, n := range g.Sent {
				total += n
			}
		}
	}
	return total
}

// whole starts the agents that do not run, and waits until all know of each other and each host has run a command.
func (d *drill) whole() error {
	if err := d.Start(within); err != nil {
		return err
	}
	time.Sleep(settles)
	for _, h := range d.Hosts {
		if err := d.run(h); err != nil {
			return fmt.Errorf("%s, when all run again: %w", h.Name, err)
		}
	}
	time.Sleep(calm)
	return nil
}

// holds starts a command that goes on for long, and waits until it runs. It ends with its host, or when it is killed.
func (d *drill) holds(h *hosts.Host) error {
	cmd := h.Wanderd("exec", "--", "sleep", forLong)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return hosts.Until(within, "the command runs", func() bool {
		g, err := gate(h)
		return err == nil && g.Running
	})
}

// forLong is how long a command of a holder sleeps, in seconds. It names the command, too.
const forLong = "600"

// detected waits until all given hosts have lost the others from their view, and returns when that was.
func (d *drill) detected(ctx context.Context, left []*hosts.Host, at chan<- time.Time) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if !slices.ContainsFunc(left, func(h *hosts.Host) bool {
			s, err := h.Status()
			return err != nil || s.Members > len(left)
		}) {
			break
		}
	}
	at <- time.Now()
}
