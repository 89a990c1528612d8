package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/hashicorp/consul/api"
)

func consul() system {
	return system{name: "Consul", program: "consul", start: startConsul, quiet: func(dir string, n *network) (func(), error) {
		var argvs [][]string
		for i := range servers {
			argv := []string{"consul", "agent", "-server", "-bootstrap-expect=3", "-node", fmt.Sprintf("s%d", i), "-data-dir", filepath.Join(dir, fmt.Sprint(i)), "-bind", n.Addr(i)}
			for j := range servers {
				argv = append(argv, "-retry-join", n.Addr(j))
			}
			argvs = append(argvs, argv)
		}
		return n.runEach(dir, argvs)
	}}
}

type consulCluster struct {
	endpoints, rafts []string
	processes        []*process
}

func startConsul(dir string, _ int) (running, error) {
	ports, err := freePorts(4 * servers)
	if err != nil {
		return nil, err
	}
	c := &consulCluster{}
	for i := range servers {
		own := ports[4*i:]
		argv := []string{
			"consul", "agent", "-server", "-bootstrap-expect=3", "-node", fmt.Sprintf("s%d", i), "-data-dir", filepath.Join(dir, fmt.Sprint(i)), "-bind", "127.0.0.1",
			"-http-port", fmt.Sprint(own[0]), "-serf-lan-port", fmt.Sprint(own[1]), "-server-port", fmt.Sprint(own[2]), "-serf-wan-port", "-1", "-dns-port", "-1", "-grpc-port", "-1", "-grpc-tls-port", "-1",
			"-retry-join", fmt.Sprintf("127.0.0.1:%d", ports[1]), "-retry-interval", "1s",
		}
		p, err := launch(dir, fmt.Sprintf("s%d.log", i), nil, argv...)
		if err != nil {
			c.stop()
			return nil, err
		}
		c.processes = append(c.processes, p)
		c.endpoints = append(c.endpoints, fmt.Sprintf("127.0.0.1:%d", own[0]))
		c.rafts = append(c.rafts, fmt.Sprintf("127.0.0.1:%d", own[2]))
	}
	if err := works(c); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *consulCluster) stop() {
	for _, p := range c.processes {
		p.kill()
	}
}

func (c *consulCluster) version() string { return firstLine("consul", "version") }

func (c *consulCluster) settings() string {
	return fmt.Sprintf("3 servers, session of %s, lock-delay of 15 s (its default), its Go client (api.Lock)", lease)
}

func (c *consulCluster) command() (string, []string) {
	return "consul lock", []string{"consul", "lock", "-http-addr", c.endpoints[0], "command", "true"}
}

type consulLocker struct {
	held *api.Lock
}

func dialConsul(endpoints []string) (locker, error) {
	client, err := api.NewClient(&api.Config{Address: endpoints[0]})
	if err != nil {
		return nil, err
	}
	session, _, err := client.Session().Create(&api.SessionEntry{TTL: lease.String(), Behavior: api.SessionBehaviorRelease}, nil)
	if err != nil {
		return nil, err
	}
	go func() { _ = client.Session().RenewPeriodic(lease.String(), session, nil, make(chan struct{})) }()
	held, err := client.LockOpts(&api.LockOptions{Key: "race", Session: session, LockTryOnce: false})
	return &consulLocker{held}, err
}

func (c *consulCluster) dial(i int) (locker, error) { return dialConsul(rotated(c.endpoints, i)) }

func (l *consulLocker) lock() error {
	_, err := l.held.Lock(nil)
	return err
}
func (l *consulLocker) unlock() error { return l.held.Unlock() }
func (l *consulLocker) close()        {}

func (c *consulCluster) holders() []victim {
	return []victim{{what: "the holder's process", prepare: func() (func(), error) { return startHolder("Consul", c.endpoints) }}}
}

func (c *consulCluster) servers() []victim {
	return []victim{{what: "the leader", prepare: func() (func(), error) {
		client, err := api.NewClient(&api.Config{Address: c.endpoints[0], HttpClient: nil, WaitTime: time.Second})
		if err != nil {
			return nil, err
		}
		leader, err := client.Status().Leader()
		for i, raft := range c.rafts {
			if raft == leader {
				return c.processes[i].kill, nil
			}
		}
		return nil, fmt.Errorf("no leader: %w", err)
	}}}
}
