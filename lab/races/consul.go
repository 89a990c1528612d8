package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/consul/api"
)

func consul() *product {
	return &product{
		name: "Consul", program: "consul", servers: servers, ports: []int{8500, 8301, 8300},
		argv: consulArgs, dial: dialConsul, leader: consulLeader, victim: "the leader",
		version: func(*cluster) string { return firstLine("consul", "version") },
		settings: fmt.Sprintf("%d servers, session of %s, lock-delay of 15 s (its default), its Go client (api.Lock)",
			servers, lease),
		command: func(endpoints []string) (string, []string) {
			return "consul lock", []string{"consul", "lock", "-http-addr", endpoints[0], "command", "true"}
		},
	}
}

// consulArgs returns a server's command line. A server that has a host of its own keeps the default ports.
func consulArgs(dir string, i int, all []place) ([]string, error) {
	own := all[i]
	argv := []string{
		"consul", "agent", "-server", fmt.Sprintf("-bootstrap-expect=%d", len(all)), "-node", fmt.Sprintf("s%d", i),
		"-data-dir", filepath.Join(dir, fmt.Sprint(i)),
		"-bind", own.host, "-retry-interval", "1s",
	}
	for _, p := range all {
		argv = append(argv, "-retry-join", p.addr(1))
	}
	if own.host == loopback {
		argv = append(argv, "-http-port", fmt.Sprint(own.ports[0]), "-serf-lan-port", fmt.Sprint(own.ports[1]),
			"-server-port", fmt.Sprint(own.ports[2]),
			"-serf-wan-port", "-1", "-dns-port", "-1", "-grpc-port", "-1", "-grpc-tls-port", "-1")
	}
	return argv, nil
}

type consulLocker struct {
	held *api.Lock
}

func dialConsul(endpoints []string) (locker, error) {
	client, err := api.NewClient(&api.Config{Address: endpoints[0]})
	if err != nil {
		return nil, err
	}
	session, _, err := client.Session().
		Create(&api.SessionEntry{TTL: lease.String(), Behavior: api.SessionBehaviorRelease}, nil)
	if err != nil {
		return nil, err
	}
	go func() { _ = client.Session().RenewPeriodic(lease.String(), session, nil, make(chan struct{})) }()
	held, err := client.LockOpts(&api.LockOptions{Key: "race", Session: session, LockTryOnce: false})
	return &consulLocker{held}, err
}

func (l *consulLocker) lock() error {
	_, err := l.held.Lock(nil)
	return err
}
func (l *consulLocker) unlock() error { return l.held.Unlock() }
func (l *consulLocker) close()        {}

func consulLeader(c *cluster) (int, error) {
	client, err := api.NewClient(&api.Config{Address: c.endpoints()[0], WaitTime: time.Second})
	if err != nil {
		return 0, err
	}
	leader, err := client.Status().Leader()
	if i := slices.IndexFunc(c.places, func(p place) bool { return p.addr(2) == leader }); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("no leader: %w", err)
}
