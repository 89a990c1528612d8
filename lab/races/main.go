// Command races lets wanderd and other systems that grant locks do the same things, one after the other on one machine,
// and prints its measurements.
//
//	go -C lab/races run . [-only NAME] [-step NAME] [--write ../../docs]
//
// A system whose program is not installed, or that fails, is skipped, and the page tells this. The command is a module
// of its own: the clients of the other systems stay out of the product's go.sum.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// part is the only step of the race; empty for all.
var part string

func main() {
	if len(os.Args) > 2 && os.Args[1] == holder {
		exit(hold(os.Args[2], os.Args[3:]))
	}
	only := flag.String("only", "", "the systems whose names contain one of these, divided by commas")
	flag.StringVar(&part, "step", "", "only this: alone, turns, contended, holders, servers or rest")
	write := flag.String("write", "", "a directory for races.md; by default the page is printed")
	flag.Parse()
	exit(race(*only, *write))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "races:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func race(only, write string) error {
	dir, err := os.MkdirTemp("", "wanderd-races-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := hosts.Build("../..", dir)
	if err != nil {
		return err
	}
	p := &page{begun: time.Now(), program: program}
	for _, argv := range [][]string{{"true"}, {"flock", filepath.Join(dir, "lock"), "true"}} {
		if _, err := exec.LookPath(argv[0]); err == nil {
			_ = p.command(argv[0], argv)
		}
	}
	all := []system{
		wanderd(program, onCall), wanderd(program, "tree"), wanderd(program, "ring"), wanderd(program, "wander"),
	}
	for _, p := range products() {
		all = append(all, p.system())
	}
	for i, s := range all {
		if !slices.ContainsFunc(strings.Split(only, ","), func(o string) bool { return strings.Contains(s.name, o) }) {
			continue
		}
		if _, err := exec.LookPath(s.program); err != nil {
			p.skip(s.name, fmt.Sprintf("%s is not installed", s.program))
			continue
		}
		if err := p.run(s, filepath.Join(dir, fmt.Sprint(i))); err != nil {
			p.skip(s.name, err.Error())
		}
		if write == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(write, "races.md"), []byte(p.text()), 0o644); err != nil {
			return err
		}
	}
	if write == "" {
		fmt.Print(p.text())
	}
	return nil
}

// run lets one system do everything.
func (p *page) run(s system, dir string) error {
	load := loadAverage()
	for _, step := range []struct {
		name string
		do   func(system, string) error
	}{
		{"alone", p.alone},
		{"turns", p.commandsInTurn},
		{"contended", p.contended},
		{"holders", p.killHolders},
		{"servers", p.killServer},
		{"rest", p.rest},
	} {
		if part != "" && part != step.name {
			continue
		}
		own := dir + step.name
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", s.name, step.name)
		if err := step.do(s, own); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	p.racers = append(p.racers, []string{s.name, p.version, p.settings, load + ", " + loadAverage()})
	return nil
}

// rest counts the bytes that a system with nothing to do puts on the wire.
func (p *page) rest(s system, dir string) error {
	net, err := hosts.NewNetwork(servers)
	if err != nil {
		p.resting = append(p.resting, []string{s.name, "no network namespaces: " + err.Error(), "", ""})
		return nil
	}
	defer net.Close()
	stop, err := s.quiet(dir, net)
	if err != nil {
		return err
	}
	defer stop()
	perMinute, messages, err := atRest(net)
	if err != nil {
		return err
	}
	p.resting = append(p.resting, []string{
		s.name, fmt.Sprintf("%.0f", perMinute), fmt.Sprintf("%.0f", perMinute/servers), fmt.Sprint(messages),
	})
	return nil
}
