package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func etcd() *product {
	return &product{
		name: "etcd", program: "etcd", servers: servers, ports: []int{2379, 2380}, scheme: "http://",
		argv: etcdArgs, dial: dialEtcd, leader: etcdLeader, victim: "the leader",
		version:  func(*cluster) string { return firstLine("etcd", "--version") },
		settings: fmt.Sprintf("%d servers, session of %s, its Go client (concurrency.Mutex)", servers, lease),
		command: func(endpoints []string) (string, []string) {
			return "etcdctl lock", []string{
				"env", "ETCDCTL_API=3", "etcdctl", "--endpoints", strings.Join(endpoints, ","), "lock", "--ttl",
				fmt.Sprint(int(lease.Seconds())), "command", "true",
			}
		},
	}
}

func etcdArgs(dir string, i int, all []place) ([]string, error) {
	var initial []string
	for j, p := range all {
		initial = append(initial, fmt.Sprintf("s%d=http://%s", j, p.addr(1)))
	}
	client, peer := "http://"+all[i].addr(0), "http://"+all[i].addr(1)
	return []string{
		"etcd", "--name", fmt.Sprintf("s%d", i), "--data-dir", fmt.Sprintf("%s/s%d", dir, i), "--listen-client-urls",
		client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
		strings.Join(initial, ","),
	}, nil
}

type etcdLocker struct {
	client  *clientv3.Client
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

func dialEtcd(endpoints []string) (locker, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, DialTimeout: 2 * time.Second,
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
	})
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

func etcdLeader(c *cluster) (int, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: c.endpoints()})
	if err != nil {
		return 0, err
	}
	defer func() { _ = client.Close() }()
	for i, endpoint := range c.endpoints() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		status, err := client.Status(ctx, endpoint)
		cancel()
		if err == nil && status.Leader == status.Header.MemberId {
			return i, nil
		}
	}
	return 0, errors.New("no leader")
}
