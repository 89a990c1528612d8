package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"
)

func redis() *product {
	return &product{
		name: "Redis", program: "redis-server", servers: 1, ports: []int{6379},
		argv: func(_ string, _ int, all []place) ([]string, error) {
			return []string{
				"redis-server", "--bind", all[0].host, "--port", fmt.Sprint(all[0].ports[0]), "--save", "",
				"--protected-mode", "no",
			}, nil
		},
		dial: dialRedis, leader: func(*cluster) (int, error) { return 0, nil }, victim: "its only server",
		version: func(*cluster) string { return firstLine("redis-server", "--version") },
		settings: fmt.Sprintf("1 server, nothing on the disk; SET NX PX %d, tried again every 1 to 10 ms",
			lease.Milliseconds()),
	}
}

// redisLocker locks as Redis's own page on locks describes it for a single server.
type redisLocker struct {
	conn  net.Conn
	from  *bufio.Reader
	token string
}

func dialRedis(endpoints []string) (locker, error) {
	conn, err := net.DialTimeout("tcp", endpoints[0], time.Second)
	if err != nil {
		return nil, err
	}
	return &redisLocker{conn, bufio.NewReader(conn), rand.Text()}, nil
}

// do sends a command, and returns its answer; empty if there is none.
func (l *redisLocker) do(words ...string) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(w), w)
	}
	_ = l.conn.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := io.WriteString(l.conn, text.String()); err != nil {
		return "", err
	}
	line, err := l.from.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSpace(line)
	switch line[0] {
	case '-':
		return "", errors.New(line)
	case '$':
		length, err := strconv.Atoi(line[1:])
		if err != nil || length < 0 {
			return "", err
		}
		rest, err := l.from.ReadString('\n')
		return strings.TrimSpace(rest), err
	}
	return line[1:], nil
}

func (l *redisLocker) lock() error {
	for {
		answer, err := l.do("SET", "race", l.token, "NX", "PX", fmt.Sprint(lease.Milliseconds()))
		if err != nil || answer == "OK" {
			return err
		}
		time.Sleep(time.Millisecond + mathrand.N(9*time.Millisecond))
	}
}

func (l *redisLocker) unlock() error {
	_, err := l.do("EVAL", `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else `+
		`return 0 end`, "1", "race", l.token)
	return err
}

func (l *redisLocker) close() { _ = l.conn.Close() }
