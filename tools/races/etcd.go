package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func etcd() system {
	return system{name: "etcd", program: "etcd", start: startEtcd, quiet: func(dir string, n *network) (func(), error) {
		var all, argvs = []string{}, [][]string{}
		for i := range servers {
			all = append(all, fmt.Sprintf("s%d=http://%s:2380", i, n.Addr(i)))
		}
		for i := range servers {
			argvs = append(argvs, etcdArgs(dir, i, "http://"+n.Addr(i)+":2379", "http://"+n.Addr(i)+":2380", all))
		}
		return n.runEach(dir, argvs)
	}}
}

type etcdCluster struct {
	endpoints []string
	processes []*process
}

func etcdArgs(dir string, i int, client, peer string, all []string) []string {
	return []string{
		"etcd", "--name", fmt.Sprintf("s%d", i), "--data-dir", fmt.Sprintf("%s/s%d", dir, i), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", strings.Join(all, ","),
	}
}

func startEtcd(dir string, _ int) (running, error) {
	ports, err := freePorts(2 * servers)
	if err != nil {
		return nil, err
	}
	c := &etcdCluster{}
	var peers, all []string
	for i := range servers {
		c.endpoints = append(c.endpoints, fmt.Sprintf("http://127.0.0.1:%d", ports[2*i]))
		peers = append(peers, fmt.Sprintf("http://127.0.0.1:%d", ports[2*i+1]))
		all = append(all, fmt.Sprintf("s%d=%s", i, peers[i]))
	}
	for i := range servers {
		p, err := launch(dir, fmt.Sprintf("s%d.log", i), nil, etcdArgs(dir, i, c.endpoints[i], peers[i], all)...)
		if err != nil {
			c.stop()
			return nil, err
		}
		c.processes = append(c.processes, p)
	}
	if err := works(c); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *etcdCluster) stop() {
	for _, p := range c.processes {
		p.kill()
	}
}

func (c *etcdCluster) version() string { return firstLine("etcd", "--version") }

func (c *etcdCluster) settings() string {
	return fmt.Sprintf("3 servers, session of %s, its Go client (concurrency.Mutex)", lease)
}

func (c *etcdCluster) command() (string, []string) {
	return "etcdctl lock", []string{"env", "ETCDCTL_API=3", "etcdctl", "--endpoints", strings.Join(c.endpoints, ","), "lock", "--ttl", fmt.Sprint(int(lease.Seconds())), "command", "true"}
}

type etcdLocker struct {
	client  *clientv3.Client
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

func dialEtcd(endpoints []string) (locker, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 2 * time.Second, DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	lent, err := client.Grant(ctx, int64(lease.Seconds()))
	if err == nil {
		var session *concurrency.Session
		if session, err = concurrency.NewSession(client, concurrency.WithLease(lent.ID)); err == nil {
			return &etcdLocker{client, session, concurrency.NewMutex(session, "/race")}, nil
		}
	}
	_ = client.Close()
	return nil, err
}

func (c *etcdCluster) dial(i int) (locker, error) { return dialEtcd(rotated(c.endpoints, i)) }

func (l *etcdLocker) lock() error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*lease)
	defer cancel()
	return l.mutex.Lock(ctx)
}

func (l *etcdLocker) unlock() error {
	ctx, cancel := context.WithTimeout(context.Background(), lease)
	defer cancel()
	return l.mutex.Unlock(ctx)
}

func (l *etcdLocker) close() {
	_ = l.session.Close()
	_ = l.client.Close()
}

func (c *etcdCluster) holders() []victim {
	return []victim{{what: "the holder's process", prepare: func() (func(), error) { return startHolder("etcd", c.endpoints) }}}
}

func (c *etcdCluster) servers() []victim {
	return []victim{{what: "the leader", prepare: func() (func(), error) {
		client, err := clientv3.New(clientv3.Config{Endpoints: c.endpoints})
		if err != nil {
			return nil, err
		}
		defer func() { _ = client.Close() }()
		for i, endpoint := range c.endpoints {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			status, err := client.Status(ctx, endpoint)
			cancel()
			if err == nil && status.Leader == status.Header.MemberId {
				return c.processes[i].kill, nil
			}
		}
		return nil, fmt.Errorf("no leader")
	}}}
}
