package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// The path at which the distribution's package puts the server.
const zkClasses = "/usr/share/java/zookeeper.jar"

func zooKeeper() *product {
	return &product{
		name: "ZooKeeper", program: "/usr/share/zookeeper/bin/zkServer.sh", servers: servers,
		ports: []int{2181, 2888, 3888},
		argv:  zkArgs, dial: dialZooKeeper, leader: zkLeader, victim: "the leader",
		version: func(c *cluster) string {
			line, _, _ := strings.Cut(zkAsk(c.endpoints()[0]), "\n")
			return strings.TrimPrefix(line, "Zookeeper version: ")
		},
		settings: fmt.Sprintf("%d servers, session of %s, tickTime 500 ms, go-zookeeper's Lock", servers, lease),
	}
}

// zkArgs writes a server's configuration, and returns its command line. The session of ten seconds needs a tick of at
// least half a second.
func zkArgs(dir string, i int, all []place) ([]string, error) {
	data, config := filepath.Join(dir, fmt.Sprint(i)), filepath.Join(dir, fmt.Sprintf("zoo%d.cfg", i))
	text := fmt.Sprintf(
		"tickTime=500\ninitLimit=40\nsyncLimit=10\ndataDir=%s\nclientPort=%d\n"+
			"admin.enableServer=false\nmaxClientCnxns=0\n", data, all[i].ports[0])
	for j, p := range all {
		text += fmt.Sprintf("server.%d=%s:%d\n", j+1, p.addr(1), p.ports[2])
	}
	return []string{
			"java", "-Xmx192m", "-cp", zkClasses, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config,
		}, errors.Join(
			os.Mkdir(data, 0o700),
			os.WriteFile(filepath.Join(data, "myid"), []byte(fmt.Sprint(i+1)), 0o600),
			os.WriteFile(config, []byte(text), 0o600),
		)
}

func zkLeader(c *cluster) (int, error) {
	for i, endpoint := range c.endpoints() {
		if strings.Contains(zkAsk(endpoint), "Mode: leader") {
			return i, nil
		}
	}
	return 0, errors.New("no leader")
}

// zkAsk asks a server for its state.
func zkAsk(endpoint string) string {
	conn, err := net.DialTimeout("tcp", endpoint, time.Second)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(conn, "srvr")
	text, _ := io.ReadAll(conn)
	return string(text)
}

type zkLocker struct {
	conn *zk.Conn
	held *zk.Lock
}

func dialZooKeeper(endpoints []string) (locker, error) {
	conn, events, err := zk.Connect(endpoints, lease, zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return nil, err
	}
	for deadline := time.After(5 * time.Second); ; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return &zkLocker{conn, zk.NewLock(conn, "/race", zk.WorldACL(zk.PermAll))}, nil
			}
		case <-deadline:
			conn.Close()
			return nil, errors.New("no session")
		}
	}
}

func (l *zkLocker) lock() error   { return l.held.Lock() }
func (l *zkLocker) unlock() error { return l.held.Unlock() }
func (l *zkLocker) close()        { l.conn.Close() }
