package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/hosts"
)

// atRest counts what all hosts send, in bytes a minute, and how many datagrams of agents are not gossip.
func atRest(n *hosts.Network) (perMinute float64, messages int, err error) {
	time.Sleep(settleTime)
	before, err := n.Sent()
	if err != nil {
		return 0, 0, err
	}
	if err := n.Count(); err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	time.Sleep(restTime)
	after, err := n.Sent()
	if err != nil {
		return 0, 0, err
	}
	perMinute = float64(after-before) / time.Since(begun).Minutes()
	messages, err = n.Counted()
	return perMinute, messages, err
}

// wanderd returns a system of this module's agents, with a gate of the given policy.
func wanderd(program, policy string) system {
	start := func(dir string, members int, n *hosts.Network) (*fleet, error) {
		top := "skip = \"100ms\""
		if policy == onCall {
			top = "" // Every setting has its default.
		}
		f, err := hosts.New(hosts.Settings{
			Size: members, Program: program, Dir: dir, Network: n,
			Top: top, Gate: hosts.Policy(policy, members, lease, time.Second),
		})
		if err != nil {
			return nil, err
		}
		if err := f.Start(time.Minute); err != nil {
			f.Close()
			return nil, err
		}
		return &fleet{f, program, policy, dir}, nil
	}
	return system{
		name: names()[policy], program: program,
		start: func(dir string, members int) (running, error) {
			f, err := start(dir, members, nil)
			if err == nil {
				if err = works(f); err != nil {
					f.stop()
				}
			}
			return f, err
		},
		quiet: func(dir string, n *hosts.Network) (func(), error) {
			f, err := start(dir, servers, n)
			if err != nil {
				return nil, err
			}
			return f.stop, nil
		},
	}
}

// onCall is the policy of a soft gate without a hook.
const onCall = "call"

func names() map[string]string {
	return map[string]string{
		"tree": "wanderd, strict tree", "ring": "wanderd, strict ring", "wander": "wanderd, soft gate",
		onCall: "wanderd, on call",
	}
}

type fleet struct {
	*hosts.Fleet
	program, policy, dir string
}

func (f *fleet) stop() { f.Close() }

func (f *fleet) describe() (version, settings string) {
	settings = fmt.Sprintf("lease of %s, kill_after 1 s", lease)
	switch f.policy {
	case "wander":
		settings = "skip 100 ms"
	case onCall:
		settings = "every setting at its default (skip 1 s)"
	}
	return firstLine(f.program, "version"), "3 members, " + settings + ", the same connection to the agent as exec"
}

func (f *fleet) command(i int) (string, []string) {
	socket := f.Hosts[i%len(f.Hosts)].Socket()
	return names()[f.policy] + ": exec", []string{f.program, "exec", "--socket", socket, "--", "true"}
}

// caller asks an agent as "wanderd exec" does, and sends what the guard of a command would. No process is started.
type caller struct {
	socket string
	conn   *control.Asked
}

func (f *fleet) dial(i int) (locker, error) {
	return &caller{socket: f.Hosts[i%len(f.Hosts)].Socket()}, nil
}

// lock asks again if it was late for its grant, as exec does: this happens on a busy machine.
func (c *caller) lock() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*lease)
	defer cancel()
	for {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		conn, err := control.Dial(c.socket).Connect(os.NewFile(uintptr(fd), "socket"))
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
		granted, err := takeGrant(ctx, conn)
		if stop(); granted && err == nil {
			c.conn = conn
			return nil
		}
		_ = conn.Close()
		refusal, _ := errors.AsType[*control.Refusal](err)
		if ctx.Err() != nil || !granted && (refusal == nil || refusal.Reason != control.Late) {
			return err
		}
	}
}

// takeGrant asks, and waits for the grant and for the message that the command may start.
func takeGrant(ctx context.Context, conn *control.Asked) (granted bool, err error) {
	if err := conn.Ask(ctx, control.ExecRequest{Gate: hosts.GateName, Command: "race"}); err != nil {
		return false, err
	}
	_, heard, err := conn.Answer()
	if err != nil {
		return false, err
	}
	if _, err := io.WriteString(conn, `{"ready":true}`+"\n"); err != nil {
		return true, err
	}
	var said struct{ Go, Stop bool }
	for words := json.NewDecoder(io.MultiReader(strings.NewReader(string(heard)), conn)); !said.Go; {
		if err := words.Decode(&said); err != nil {
			return true, err
		}
		if said.Stop {
			return true, errors.New("the grant was taken back")
		}
	}
	return true, nil
}

// unlock reports that the command has ended, and waits until the agent has released the caller.
func (c *caller) unlock() error {
	_, err := io.WriteString(c.conn, `{"pid":1,"over":true,"reaped":true}`+"\n")
	_, _ = io.Copy(io.Discard, c.conn)
	_ = c.conn.Close()
	return err
}

func (c *caller) close() {}

func (f *fleet) holders() []victim {
	hold := func(strike func(h *hosts.Host)) func() (func(), error) {
		return func() (func(), error) {
			h := f.Hosts[0]
			held := filepath.Join(f.dir, "held")
			_ = os.Remove(held)
			cmd := h.Wanderd("exec", "--", "sh", "-c", "echo >"+held+"; exec sleep 600")
			if err := cmd.Start(); err != nil {
				return nil, err
			}
			go func() { _ = cmd.Wait() }()
			if err := until("the command runs", func() error { _, err := os.Stat(held); return err }); err != nil {
				return nil, err
			}
			return func() { strike(h) }, nil
		}
	}
	command := func(h *hosts.Host) { h.SignalAll("600", syscall.SIGKILL) }
	return []victim{
		{what: "the command", prepare: hold(command)},
		{what: "the agent, in mid-command", prepare: hold((*hosts.Host).Kill)},
		{what: "the whole host (agent, guard, command)", prepare: hold((*hosts.Host).PowerCut)},
	}
}

// server returns what is killed; it is no holder, because the cost of a holder's death is measured with the holders.
// The last member has no client; otherwise it would have the token every few milliseconds.
func (f *fleet) server() victim {
	return victim{what: "a member that does not want it", spared: true, prepare: func() (func(), error) {
		return f.Hosts[servers-1].PowerCut, nil
	}}
}
