package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Where the distribution's package puts the server.
const zkClasses = "/usr/share/java/zookeeper.jar"

func zooKeeper() system {
	return system{name: "ZooKeeper", program: "/usr/share/zookeeper/bin/zkServer.sh", start: startZooKeeper, quiet: func(dir string, n *network) (func(), error) {
		var hosts []string
		for i := range servers {
			hosts = append(hosts, n.Addr(i)+":2888:3888")
		}
		var argvs [][]string
		for i := range servers {
			argv, err := zkArgs(dir, i, "2181", hosts)
			if err != nil {
				return nil, err
			}
			argvs = append(argvs, argv)
		}
		return n.runEach(dir, argvs)
	}}
}

type zkEnsemble struct {
	endpoints []string
	processes []*process
}

// zkArgs writes a server's configuration, and returns its command line. The session of ten seconds needs a tick of at least half a second.
func zkArgs(dir string, i int, client string, hosts []string) ([]string, error) {
	data := filepath.Join(dir, fmt.Sprint(i))
	text := fmt.Sprintf("tickTime=500\ninitLimit=40\nsyncLimit=10\ndataDir=%s\nclientPort=%s\nadmin.enableServer=false\nmaxClientCnxns=0\n", data, client)
	for j, host := range hosts {
		text += fmt.Sprintf("server.%d=%s\n", j+1, host)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(data, "myid"), []byte(fmt.Sprint(i+1)), 0o600); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, fmt.Sprintf("zoo%d.cfg", i))
	return []string{"java", "-Xmx192m", "-cp", zkClasses, "org.apache.zookeeper.server.quorum.QuorumPeerMain", config}, os.WriteFile(config, []byte(text), 0o600)
}

func startZooKeeper(dir string, _ int) (running, error) {
	ports, err := freePorts(3 * servers)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for i := range servers {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d:%d", ports[3*i+1], ports[3*i+2]))
	}
	e := &zkEnsemble{}
	for i := range servers {
		argv, err := zkArgs(dir, i, fmt.Sprint(ports[3*i]), hosts)
		if err == nil {
			var p *process
			if p, err = launch(dir, fmt.Sprintf("s%d.log", i), nil, argv...); err == nil {
				e.processes = append(e.processes, p)
			}
		}
		if err != nil {
			e.stop()
			return nil, err
		}
		e.endpoints = append(e.endpoints, fmt.Sprintf("127.0.0.1:%d", ports[3*i]))
	}
	if err := works(e); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

func (e *zkEnsemble) stop() {
	for _, p := range e.processes {
		p.kill()
	}
}

func (e *zkEnsemble) version() string {
	words := strings.Split(zkAsk(e.endpoints[0]), "\n")
	return strings.TrimPrefix(words[0], "Zookeeper version: ")
}

func (e *zkEnsemble) settings() string {
	return fmt.Sprintf("3 servers, session of %s, tickTime 500 ms, go-zookeeper's Lock", lease)
}

func (e *zkEnsemble) command() (string, []string) { return "", nil }

// zkAsk asks a server how it does.
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
	conn, events, err := zk.Connect(endpoints, lease, zk.WithLogInfo(false), zk.WithLogger(silent{}))
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
			return nil, fmt.Errorf("no session")
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func (e *zkEnsemble) dial(i int) (locker, error) { return dialZooKeeper(rotated(e.endpoints, i)) }

func (l *zkLocker) lock() error   { return l.held.Lock() }
func (l *zkLocker) unlock() error { return l.held.Unlock() }
func (l *zkLocker) close()        { l.conn.Close() }

func (e *zkEnsemble) holders() []victim {
	return []victim{{what: "the holder's process", prepare: func() (func(), error) { return startHolder("ZooKeeper", e.endpoints) }}}
}

func (e *zkEnsemble) servers() []victim {
	return []victim{{what: "the leader", prepare: func() (func(), error) {
		for i, endpoint := range e.endpoints {
			if strings.Contains(zkAsk(endpoint), "Mode: leader") {
				return e.processes[i].kill, nil
			}
		}
		return nil, fmt.Errorf("no leader")
	}}}
}
