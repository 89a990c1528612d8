//go:build linux

// Package hosts runs real agents for trials, each on a host of its own: a network namespace or, where a process may not
// have one, ports of loopback. It stops and kills what runs there, and takes the network apart. It knows nothing of the
// trials.
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
	"github.com/wanderd/wanderd/lab/ports"
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

// Settings are the settings of a fleet.
type Settings struct {
	Size int
	// Program is wanderd. Dir has its files, and must be empty.
	Program, Dir string
	// Top are the lines of the configuration file before the gate. Gate are the lines of the gate, without its name.
	Top, Gate string
	// Clear is true for a fleet without a secret.
	Clear bool
	// Network has one host for each agent; nil means loopback.
	Network *Network
}

// Build compiles wanderd and its guard, from the module that contains the directory from, into the directory dir: as
// "make build" does.
func Build(from, dir string) (program string, err error) {
	where := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/wanderd/wanderd")
	where.Dir = from
	root, err := where.Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	build := exec.Command(filepath.Join(strings.TrimSpace(string(root)), "lab/build/wanderd"), dir, "-tags",
		"nethttpomithttp2")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "LDFLAGS=-s -w")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("lab/build/wanderd: %w\n%s", err, out)
	}
	return filepath.Join(dir, "wanderd"), nil
}

// Names returns the names of a fleet's members, in the order of its hosts.
func Names(size int) (names []string) {
	for i := range size {
		names = append(names, "m"+strconv.Itoa(i+1))
	}
	return names
}

// Policy returns the part of a gate's settings that tells how its token goes round. A strict gate has all members in
// its roster.
func Policy(policy string, members int, lease, killAfter time.Duration) string {
	text := fmt.Sprintf("policy = %q\n", policy)
	if policy == "tree" || policy == "ring" {
		text += fmt.Sprintf("roster = [\"%s\"]\nlease = %q\nkill_after = %q\n", strings.Join(Names(members), `", "`),
			lease, killAfter)
	}
	return text
}

// New makes a fleet. None of its agents runs yet.
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

// Add makes one more host. Its agent, which does not run yet, gets the given flags too. Agents that run already are not
// told of it.
func (f *Fleet) Add(name string, flags ...string) (*Host, error) {
	h := &Host{
		Name: name, Log: f.File(name + ".log"), fleet: f, flags: flags, state: f.File(name),
		mark: fmt.Sprintf("WANDERD_TRIAL=%s/%s", f.settings.Dir, name),
	}
	if i := len(f.Hosts); f.Network != nil {
		h.Addr, h.enter = f.Network.Addr(i)+":7946", f.Network.Enter(i)
	} else {
		var err error
		if h.Addr, _, err = ports.Claim(); err != nil {
			return nil, err
		}
	}
	f.Hosts = append(f.Hosts, h)
	return h, nil
}

// File returns the path of a file of the fleet. A host's state is in the directory with its name.
func (f *Fleet) File(name string) string { return filepath.Join(f.settings.Dir, name) }

// Start starts every agent, and waits until each of them knows all others.
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

// Close ends everything that runs on the hosts.
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

// Status asks the host's agent for its status.
func (h *Host) Status() (control.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := control.Dial(h.Socket()).Status(ctx)
	if err == nil && len(s.Gates) == 0 {
		err = errors.New("it knows of no gate")
	}
	return s, err
}
