//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/lab/hosts"
	"github.com/wanderd/wanderd/lab/ports"
	"github.com/wanderd/wanderd/wire"
)

const (
	// size is the number of agents in a fleet.
	size = 4
	// settleTime bounds the time until each agent has run once.
	settleTime = 30 * time.Second
	// hookScript records when it starts and ends, by the wall clock.
	hookScript = "#!/bin/sh\nwrite() { echo $1 $WANDERD_SEQ $WANDERD_NAME $$ $(date +%s%N) >>\"$2\"; }\n" +
		"write start \"$1\"\nsleep 0.2\nwrite end \"$1\"\n"
)

// fleet is some agents on loopback.
type fleet struct {
	*hosts.Fleet
	attack  *attack
	program string
	length  time.Duration
	agents  []*process
	// conn is the connection from which the attack sends, at a loopback address that no member has.
	conn *net.UDPConn
	// start and end bound the attack; begun is called at its start.
	start, end time.Time
	begun      func()
	// joining is how long a new member took to join. exceeded are bounds that the attack has exceeded and that no load
	// excuses.
	joining  time.Duration
	exceeded []string
}

type process struct {
	*hosts.Host
	// metrics is the address at which it serves them.
	addr, metrics netip.AddrPort
}

// newFleet starts the agents. Agents without a secret are bound to loopback, so they need no other permission.
func newFleet(program, dir string, a *attack, length time.Duration) (*fleet, error) {
	f := &fleet{attack: a, program: program, length: length}
	hook, top := filepath.Join(dir, "hook.sh"), "skip = \"250ms\"\nstop_timeout = \"1s\""
	if a.trusting {
		top += fmt.Sprintf("\ntrust = \"known_hosts\"\nknown_hosts = %q", filepath.Join(dir, "known_hosts"))
	}
	err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(hook, []byte(hookScript), 0o700))
	if err != nil {
		return nil, err
	}
	if f.conn, err = attackSocket("127.0.0.66"); err != nil {
		return nil, err
	}
	if f.Fleet, err = hosts.New(hosts.Settings{
		Program: program, Dir: dir, Clear: !a.sealed, Top: top,
		Gate: fmt.Sprintf("hook = [%q, %q]\nmin_interval = \"2s\"\nop = \"200ms\"", hook,
			filepath.Join(dir, "journal")),
	}); err != nil {
		return nil, err
	}
	if a.trusting {
		if err := f.makeAuthority(); err != nil {
			return nil, err
		}
	}
	for _, name := range hosts.Names(size) {
		if _, err := f.add(name); err != nil {
			f.stop()
			return nil, err
		}
	}
	return f, nil
}

// makeAuthority makes a certificate authority, and the file of known hosts that names it.
func (f *fleet) makeAuthority() error {
	out, err := exec.Command(f.program, "keygen", "--name", "*", f.File("ca")).CombinedOutput()
	if err != nil {
		return fmt.Errorf("keygen: %w\n%s", err, out)
	}
	return os.WriteFile(f.File("known_hosts"), append([]byte("@cert-authority "),
		out[bytes.LastIndexByte(out, '*'):]...), 0o600)
}

// add starts one agent that joins the others.
func (f *fleet) add(name string, flags ...string) (p *process, err error) {
	metrics, _, err := ports.Claim()
	if err != nil {
		return nil, err
	}
	h, err := f.Add(name, append([]string{"--metrics", metrics, "--log-level", "info"}, flags...)...)
	if err != nil {
		return nil, err
	}
	p = &process{Host: h, addr: netip.MustParseAddrPort(h.Addr), metrics: netip.MustParseAddrPort(metrics)}
	if f.attack.trusting {
		if out, err := p.Wanderd("keygen", "--sign-with", f.File("ca"), "--name", name).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("keygen: %w\n%s", err, out)
		}
	}
	f.agents = append(f.agents, p)
	return p, p.Start()
}

func (f *fleet) stop() {
	f.Close()
	_ = f.conn.Close()
}

func (f *fleet) send(datagram []byte, to netip.AddrPort) {
	_, _ = f.conn.WriteToUDPAddrPort(datagram, to)
}

// settle waits until the token goes round: each agent has run, and some runs came after that.
func (f *fleet) settle() error {
	return hosts.Until(settleTime, "the fleet runs", func() bool {
		runs, err := f.runs()
		return err == nil && len(runs) >= 3*size
	})
}

func (f *fleet) begin() {
	f.start = time.Now()
	f.end = f.start.Add(f.length)
	if f.begun != nil {
		f.begun()
	}
}

func (f *fleet) over() bool { return !time.Now().Before(f.end) }

// joins starts a new member and reports how long it takes to join, which it does over TCP.
func (f *fleet) joins(name string) (string, error) {
	begun := time.Now()
	p, err := f.add(name)
	if err != nil {
		return "", err
	}
	defer p.PowerCut()
	for ; !f.over(); time.Sleep(10 * time.Millisecond) {
		if log, err := os.ReadFile(p.Log); err == nil && bytes.Contains(log, []byte("joined the fleet")) {
			f.joining = time.Since(begun)
			return fmt.Sprintf("a new member joined within %.2f s", f.joining.Seconds()), nil
		}
	}
	f.joining = f.length
	return fmt.Sprintf("a new member did not join within %.2f s", time.Since(begun).Seconds()), nil
}

// secret returns what the agents share; nil if they have no secret.
func (f *fleet) secret() (*wire.Secret, error) {
	if !f.attack.sealed {
		return nil, nil
	}
	secrets, err := statedir.ReadSecretFile(f.File("secret"))
	if err != nil {
		return nil, err
	}
	return &secrets[0], nil
}

// nodes asks an agent for the members, and returns their names in gossip.
func (f *fleet) nodes() (nodes []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), f.length)
	defer cancel()
	members, err := control.Dial(f.agents[0].Socket()).Members(ctx)
	for _, m := range members.Members {
		nodes = append(nodes, m.Name+"~"+m.Member)
	}
	return nodes, err
}

func (f *fleet) runs() ([]hosts.Hold, error) {
	file, err := os.Open(f.File("journal"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return hosts.ReadJournal(file)
}

// summary is what became of the runs between two moments.
type summary struct {
	runs           int
	pause, overlap time.Duration
}

func summarise(runs []hosts.Hold, begun, over time.Time) (s summary) {
	from, to := time.Duration(begun.UnixNano()), time.Duration(over.UnixNano())
	last := from // when the last run ended
	for _, r := range runs {
		if r.Start < from || r.Start > to {
			continue
		}
		s.runs++
		s.pause = max(s.pause, r.Start-last)
		if !r.Ended {
			r.Last = to
		}
		if until := min(r.Last, last) - r.Start; s.runs > 1 && until > 0 {
			s.overlap += until
		}
		last = max(last, r.Last)
	}
	s.pause = max(s.pause, to-last)
	return s
}
