//go:build linux

// Package hosts runs real agents for trials, each on a host of its own: a network namespace, or ports of loopback where
// a process may have none. It stops and kills what runs there, and takes the network apart. It knows nothing of what
// the agents are tried for.
package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// GateName is the gate of every fleet.
const GateName = "g"

// Fleet is some agents that share a secret and one gate.
type Fleet struct {
	Hosts []*Host
	// Network is nil on loopback.
	Network *Network

	settings Settings
}

// Settings are what a fleet is made of.
type Settings struct {
	Size int
	// Program is wanderd; Dir has its files, and must be empty.
	Program, Dir string
	// Top are lines of the configuration file before the gate, Gate those of the gate besides its name.
	Top, Gate string
	// Clear is a fleet without a secret.
	Clear bool
	// Network has one host for each agent; nil is loopback.
	Network *Network
}

// Build compiles wanderd, as it is in the module in which a directory is, into another one.
func Build(from, dir string) (program string, err error) {
	program = filepath.Join(dir, "wanderd")
	build := exec.Command("go", "build", "-o", program, "github.com/wanderd/wanderd/cmd/wanderd")
	build.Dir = from
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// Names are those of a fleet's members, in the order of its hosts.
func Names(size int) (names []string) {
	for i := range size {
		names = append(names, "m"+strconv.Itoa(i+1))
	}
	return names
}

// Policy is the part of a gate's settings that says how its token goes round; a strict gate has all members in its
// roster.
func Policy(policy string, members int, lease, killAfter time.Duration) string {
	text := fmt.Sprintf("policy = %q\n", policy)
	if policy != "wander" {
		text += fmt.Sprintf("roster = [\"%s\"]\nlease = %q\nkill_after = %q\n", strings.Join(Names(members), `", "`),
			lease, killAfter)
	}
	return text
}

// New makes a fleet; none of its agents runs yet.
func New(s Settings) (*Fleet, error) {
	f := &Fleet{Network: s.Network, settings: s}
	if err := os.WriteFile(f.File("wanderd.toml"), []byte(s.Top+"\n[[gate]]\nname = \""+GateName+"\"\n"+s.Gate+"\n"),
		0o600); err != nil {
		return nil, err
	}
	if !s.Clear {
		if out, err := exec.Command(s.Program, "keygen", "--secret", f.File("secret")).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("keygen: %w\n%s", err, out)
		}
	}
	for _, name := range Names(s.Size) {
		if _, err := f.Add(name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Add makes one host more. Its agent, which does not run yet, gets more flags. Those that run already are not told of
// it.
func (f *Fleet) Add(name string, flags ...string) (*Host, error) {
	h := &Host{
		Name: name, Log: f.File(name + ".log"), fleet: f, flags: flags, state: f.File(name),
		mark: fmt.Sprintf("WANDERD_TRIAL=%s/%s", f.settings.Dir, name),
	}
	if i := len(f.Hosts); f.Network != nil {
		h.Addr, h.enter = f.Network.Addr(i)+":7946", f.Network.Enter(i)
	} else {
		var err error
		if h.Addr, err = FreeAddr(); err != nil {
			return nil, err
		}
	}
	f.Hosts = append(f.Hosts, h)
	return h, nil
}

// File is the path of a file of the fleet. A host's state is in the directory of its name.
func (f *Fleet) File(name string) string { return filepath.Join(f.settings.Dir, name) }

// Start starts every agent, and waits until each of them knows of all others.
func (f *Fleet) Start(within time.Duration) error {
	for _, h := range f.Hosts {
		if err := h.Start(); err != nil {
			return err
		}
	}
	return Until(within, "all agents know of each other", func() bool {
		for _, h := range f.Hosts {
			if s, err := h.Status(); err != nil || s.Members != len(f.Hosts) {
				return false
			}
		}
		return true
	})
}

// Close ends all that runs on the hosts.
func (f *Fleet) Close() {
	for _, h := range f.Hosts {
		h.PowerCut()
	}
}

// Until waits for a condition.
func Until(within time.Duration, what string, met func() bool) error {
	for deadline := time.Now().Add(within); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s in vain: %s", within, what)
		}
	}
	return nil
}

// Status asks the host's agent.
func (h *Host) Status() (control.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := control.Dial(h.Socket()).Status(ctx)
	if err == nil && len(s.Gates) == 0 {
		err = errors.New("it knows of no gate")
	}
	return s, err
}
