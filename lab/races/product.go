package main

import (
	"fmt"
	"os/exec"
	"slices"

	"github.com/wanderd/wanderd/lab/hosts"
)

// product is a system that others have made: some servers, and clients that lock.
type product struct {
	name, program string
	servers       int
	// ports are the ports on which a server listens, the one for clients first. scheme precedes an endpoint.
	ports  []int
	scheme string
	// argv returns the command line of a server. all is where the servers are.
	argv func(dir string, i int, all []place) ([]string, error)
	dial func(endpoints []string) (locker, error)
	// leader returns the number of the server whose death is watched. victim describes it.
	leader func(c *cluster) (int, error)
	victim string
	// version asks the servers for their version. settings describes their settings.
	version  func(c *cluster) string
	settings string
	// command runs "true" under the lock, with the servers in this order. It may be nil.
	command func(endpoints []string) (name string, argv []string)
}

func products() []*product { return []*product{etcd(), zooKeeper(), redis(), consul()} }

// place is where a server listens.
type place struct {
	host  string
	ports []int
}

func (p place) addr(port int) string { return fmt.Sprintf("%s:%d", p.host, p.ports[port]) }

// loopback is the address of servers that share a host. Then each has ports of its own.
const loopback = "127.0.0.1"

// cluster is the running servers of a product.
type cluster struct {
	*product
	places    []place
	processes []*exec.Cmd
}

func (p *product) system() system {
	return system{name: p.name, program: p.program, start: p.start, quiet: p.quiet}
}

func (p *product) start(dir string, _ int) (running, error) {
	ports, err := freePorts(p.servers * len(p.ports))
	if err != nil {
		return nil, err
	}
	c := &cluster{product: p}
	for own := range slices.Chunk(ports, len(p.ports)) {
		c.places = append(c.places, place{loopback, own})
	}
	if err := c.launch(dir, func(int) []string { return nil }); err != nil {
		return nil, err
	}
	if err := works(c); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (p *product) quiet(dir string, n *hosts.Network) (stop func(), err error) {
	c := &cluster{product: p}
	for i := range p.servers {
		c.places = append(c.places, place{n.Addr(i), p.ports})
	}
	return c.stop, c.launch(dir, n.Enter)
}

// launch starts the servers, each by a command that enters its host.
func (c *cluster) launch(dir string, enter func(i int) []string) error {
	for i := range c.places {
		argv, err := c.argv(dir, i, c.places)
		if err == nil {
			var p *exec.Cmd
			if p, err = launch(dir, fmt.Sprintf("s%d.log", i), append(enter(i), argv...)...); err == nil {
				c.processes = append(c.processes, p)
			}
		}
		if err != nil {
			c.stop()
			return err
		}
	}
	return nil
}

func (c *cluster) stop() {
	for _, p := range c.processes {
		kill(p)
	}
}

func (c *cluster) endpoints() (all []string) {
	for _, p := range c.places {
		all = append(all, c.scheme+p.addr(0))
	}
	return all
}

func (c *cluster) describe() (version, settings string) {
	return c.product.version(c), c.product.settings
}

func (c *cluster) dial(i int) (locker, error) { return c.product.dial(rotated(c.endpoints(), i)) }

func (c *cluster) command(i int) (string, []string) {
	if c.product.command == nil {
		return "", nil
	}
	return c.product.command(rotated(c.endpoints(), i))
}

func (c *cluster) holders() []victim {
	return []victim{{what: "the holder's process", prepare: func() (func(), error) {
		return startHolder(c.name, c.endpoints())
	}}}
}

func (c *cluster) server() victim {
	return victim{what: c.victim, prepare: func() (func(), error) {
		i, err := c.leader(c)
		if err != nil {
			return nil, err
		}
		return func() { kill(c.processes[i]) }, nil
	}}
}
