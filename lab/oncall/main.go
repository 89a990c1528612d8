//go:build linux

// Command oncall measures a gate on call, with real agents on hosts of their own, every setting at its default.
//
//	go run ./lab/oncall [-members 10] [-rounds 20] [-only PART] [-rest 1m] [-dir DIR]
//
// At rest: how many datagrams the agents send beside gossip, for a while after the last command. Losses: a host with
// the token, homes or both die in several ways, and the next command starts somewhere else; the figures are the times
// from the kill, or from the call if that came later, until it runs. Each command is "wanderd exec".
//
// The hosts are network namespaces, for which the command must be root. Other load on the machine shows in the figures:
// "chrt -r 1" before the command puts it before what else runs.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

func main() {
	members := flag.Int("members", 10, "how many agents the fleet has")
	rounds := flag.Int("rounds", 20, "how often the token is lost in each way")
	only := flag.String("only", "", "the parts whose names contain this")
	rest := flag.Duration("rest", time.Minute, "for how long datagrams are counted at rest")
	dir := flag.String("dir", "", "where logs are kept; by default they are removed")
	flag.Parse()
	if err := measure(*members, *rounds, *only, *rest, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "oncall:", err)
		os.Exit(1)
	}
}

func measure(members, rounds int, only string, rest time.Duration, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wanderd-oncall-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	program, err := hosts.Build(".", dir)
	if err != nil {
		return err
	}
	network, err := hosts.NewNetwork(members)
	if err != nil {
		return err
	}
	defer network.Close()
	files := filepath.Join(dir, "fleet")
	if err := os.Mkdir(files, 0o700); err != nil {
		return err
	}
	d, err := newDrill(hosts.Settings{Size: members, Program: program, Dir: files, Network: network})
	if err != nil {
		return err
	}
	defer d.Close()
	const atRest = "at rest"
	if strings.Contains(atRest, only) {
		if err := d.rest(rest); err != nil {
			return fmt.Errorf("%s: %w", atRest, err)
		}
	}
	for _, l := range losses() {
		if !strings.Contains(l.name, only) {
			continue
		}
		if err := d.repeat(&l, rounds); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// quantiles returns the median, the 90th percentile, and the longest of times.
func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(share int) string { return fmt.Sprintf("%.2f", all[(len(all)-1)*share/100].Seconds()) }
	return fmt.Sprintf("%s / %s / %s s", at(50), at(90), at(100))
}

// load returns the machine's load average over one minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
