package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// lease is how long each system waits for a holder that gives no sign of life, if that can be set.
const lease = 10 * time.Second

// system is a system that grants a lock. It runs from its start to its stop.
type system struct {
	name string
	// program must exist. Without it the system is skipped.
	program string
	// start starts servers or members, with files in dir. It returns when a lock can be obtained.
	start func(dir string, members int) (running, error)
	// quiet starts it in a network of hosts, each with one server or member, and without clients.
	quiet func(dir string, n *hosts.Network) (stop func(), err error)
}

type running interface {
	// describe returns which version runs, and how it is set up.
	describe() (version, settings string)
	// dial makes a client of the server, or member, with the given number.
	dial(i int) (locker, error)
	// holders returns the ways to hold the lock that a kill ends.
	holders() []victim
	// server returns what can be killed while others contend.
	server() victim
	// command runs "true" under the lock, by the server or member with the given number. There may be none.
	command(i int) (name string, argv []string)
	stop()
}

// locker is a client that has connected.
type locker interface {
	lock() error
	unlock() error
	close()
}

// victim is a process that is killed by SIGKILL.
type victim struct {
	what string
	// spared is true if the last server, or member, has no client meanwhile.
	spared bool
	// prepare makes it ready, and returns a function that kills it.
	prepare func() (strike func(), err error)
}

// launch starts a program, whose output goes to a file.
func launch(dir, log string, argv ...string) (*exec.Cmd, error) {
	out, err := os.Create(filepath.Join(dir, log))
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	return cmd, cmd.Start()
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// holder is the first argument of this program where it holds a lock until it is killed:
//
//	races hold SYSTEM ENDPOINT...
const holder = "hold"

// startHolder starts such a process, and returns when that has the lock.
func startHolder(system string, endpoints []string) (strike func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{holder, system}, endpoints...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		kill(cmd)
		return nil, fmt.Errorf("the holder has not got the lock: %w", err)
	}
	return func() { kill(cmd) }, nil
}

// hold is the main function of such a process.
func hold(system string, endpoints []string) error {
	all := products()
	l, err := all[slices.IndexFunc(all, func(p *product) bool { return p.name == system })].dial(endpoints)
	if err != nil {
		return err
	}
	if err := l.lock(); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// rotated returns a list that begins at another place, so that each client has a server of its own.
func rotated(list []string, i int) []string {
	i %= len(list)
	return slices.Concat(list[i:], list[:i])
}

// freePorts returns loopback ports that are free now.
func freePorts(count int) (ports []int, err error) {
	for range count {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // only when all have been found
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// firstLine returns the first line of a program's output.
func firstLine(argv ...string) string {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil && len(out) == 0 {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// until waits for something that must happen within a minute.
func until(what string, met func() error) error {
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = met(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("waited a minute in vain: %s: %w", what, err)
}
