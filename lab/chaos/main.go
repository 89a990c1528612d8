//go:build linux

// Command chaos runs fleets of real agents under faults, and checks what the commands that ran under their gate have
// recorded against a lock with rising fencing numbers.
//
//	go run ./lab/chaos [-policies tree,ring,wander] [-members 3,5] [-for 30m] [-seed N] [-dir DIR]
//
// Agents are killed, stopped for a while, cut off in one direction or both, and lose packets; hosts lose their power;
// commands, callers and guards are killed. A strict gate must pass. For a soft gate the command reports how often two
// commands ran at once, and for how long.
//
// The hosts are network namespaces, each with a boot time of its own, for which the command must be root; otherwise the
// agents share loopback, and the faults of the network are left out. The command cannot set the wall clock of one host
// (no namespace has that), change the rate of a clock, or suspend a host; the simulator does.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == recorder {
		exit(record(os.Args[2:]))
	}
	policies := flag.String("policies", "tree,ring,wander", "the policies that are tried, with commas")
	members := flag.String("members", "3,5", "how many agents a fleet has, with commas")
	length := flag.Duration("for", 30*time.Minute, "how long all trials take together")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()),
		"decides which faults strike; when they take effect it does not")
	dir := flag.String("dir", "", "where journals and logs are kept; by default they are removed")
	flag.Parse()
	exit(try(strings.Split(*policies, ","), strings.Split(*members, ","), *length, *seed, *dir))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func try(policies, members []string, length time.Duration, seed uint64, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "wanderd-chaos-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
	}
	program, err := hosts.Build(".", dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	length /= time.Duration(len(policies) * len(members))
	fmt.Printf("seed %d, %s for each fleet, lease %s, kill_after %s\n", seed, length, lease, killAfter)
	var failed []string
	for _, policy := range policies {
		for _, size := range members {
			t := &trial{
				policy: policy, length: length, seed: seed, program: program, self: self,
				dir: filepath.Join(dir, policy+size),
			}
			if t.members, err = strconv.Atoi(size); err != nil {
				return err
			}
			if err := os.Mkdir(t.dir, 0o700); err != nil {
				return err
			}
			if err := t.tell(); err != nil {
				failed = append(failed, fmt.Sprintf("%s with %s members: %v", policy, size, err))
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed:\n  %s", strings.Join(failed, "\n  "))
	}
	return nil
}

// tell runs a trial and prints its results. The error names what must not happen.
func (t *trial) tell() (err error) {
	where := "in network namespaces, each with a boot time of its own"
	if t.network, err = hosts.NewNetwork(t.members); err != nil {
		where = fmt.Sprintf("on loopback, without faults of the network: %v", err)
	} else {
		defer t.network.Close()
		if !t.network.Clocks {
			where = "in network namespaces, with one boot time: this kernel has no time namespaces"
		}
	}
	fmt.Printf("\n%s, %d members, %s\n", t.policy, t.members, where)
	err = t.run()
	fmt.Printf("  %d commands, %d of them killed; longest pause between two starts %.2f s\n", t.holds, t.killed,
		t.pause.Seconds())
	fmt.Printf("  %d overlaps, the longest %.3f s; %d numbers that do not rise\n", t.overlaps, t.longest.Seconds(),
		t.falls)
	for _, f := range t.faults {
		fmt.Println("    " + f)
	}
	fmt.Print("  callers' exit codes:")
	for _, code := range slices.Sorted(maps.Keys(t.ends)) {
		fmt.Printf(" %d×%d", t.ends[code], code)
	}
	fmt.Print("\n  faults:")
	for _, name := range slices.Sorted(maps.Keys(t.struck)) {
		fmt.Printf(" %d×%s;", t.struck[name], name)
	}
	fmt.Println()
	if err == nil && t.policy != "wander" && !t.strict() {
		err = fmt.Errorf("%d overlaps, %d numbers that do not rise", t.overlaps, t.falls)
	}
	return err
}
