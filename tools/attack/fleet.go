package main

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// size is how many agents a fleet has.
	size = 4
	// settleTime bounds the time until each agent has run once.
	settleTime = 30 * time.Second
	// hookScript writes when it starts and ends.
	hookScript = "#!/bin/sh\necho start $$ $(date +%s%N) >>\"$JOURNAL\"\nsleep 0.2\necho end $$ $(date +%s%N) >>\"$JOURNAL\"\n"
)

// fleet is some agents on loopback.
type fleet struct {
	program, dir string
	sealed       bool
	trusting     bool
	length       time.Duration
	agents       []*process
	// start and end bound the attack; begun is called at its start.
	start, end time.Time
	begun      func()
	// joining is how long a new member took to join, exceeded what the attack has brought about that no load excuses.
	joining  time.Duration
	exceeded []string
}

// process is one agent.
type process struct {
	name string
	addr netip.AddrPort
	// metrics is where it serves them.
	metrics netip.AddrPort
	cmd     *exec.Cmd
	log     string
	ended   chan struct{}
}

// newFleet starts the agents. Those with a secret share one; those without are bound to loopback, so they need no other leave.
func newFleet(program, dir string, sealed, trusting bool, length time.Duration) (*fleet, error) {
	f := &fleet{program: program, dir: dir, sealed: sealed, trusting: trusting, length: length}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.file("hook.sh"), []byte(hookScript), 0o700); err != nil {
		return nil, err
	}
	if sealed {
		if out, err := exec.Command(program, "keygen", "--secret", f.file("secret")).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("keygen: %w\n%s", err, out)
		}
	}
	if trusting {
		if err := f.makeAuthority(); err != nil {
			return nil, err
		}
	}
	for i := range size {
		if _, err := f.add(fmt.Sprintf("m%d", i+1)); err != nil {
			f.stop()
			return nil, err
		}
	}
	return f, nil
}

func (f *fleet) file(name string) string { return filepath.Join(f.dir, name) }

// makeAuthority makes a certificate authority, and the file of known hosts that names it.
func (f *fleet) makeAuthority() error {
	out, err := f.keygen("--name", "*", f.file("ca"))
	if err != nil {
		return err
	}
	return os.WriteFile(f.file("known_hosts"), []byte("@cert-authority "+out[strings.LastIndex(out, "*"):]), 0o600)
}

func (f *fleet) keygen(args ...string) (string, error) {
	out, err := exec.Command(f.program, append([]string{"keygen"}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("keygen: %w\n%s", err, out)
	}
	return string(out), nil
}

// add starts one agent that joins the others.
func (f *fleet) add(name string, more ...string) (*process, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, addr: addr, metrics: metrics, log: f.file(name + ".log"), ended: make(chan struct{})}
	args := []string{
		"--metrics", metrics.String(),
		"--name", name, "--state-dir", f.file(name), "--bind", addr.String(), "--log-format", "json",
		"--skip", "250ms", "--min-interval", "2s", "--op", "200ms", "--stop-timeout", "1s",
	}
	if len(more) == 0 {
		args = append(args, "--hook", f.file("hook.sh"))
	}
	if f.sealed {
		args = append(args, "--secret-file", f.file("secret"))
	}
	if f.trusting {
		if _, err := f.keygen("--sign-with", f.file("ca"), "--name", name, "--state-dir", f.file(name)); err != nil {
			return nil, err
		}
		args = append(args, "--trust", "known_hosts", "--known-hosts", f.file("known_hosts"))
	}
	for _, other := range f.agents {
		args = append(args, "--join", other.addr.String())
	}
	args = append(args, more...)
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(f.program, args...)
	p.cmd.Env = append(os.Environ(), "JOURNAL="+f.file("journal"))
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	f.agents = append(f.agents, p)
	return p, nil
}

func (f *fleet) stop() {
	for _, p := range f.agents {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// settle waits until the fleet goes round: each agent has run, and four more runs came after that.
func (f *fleet) settle() error {
	for deadline := time.Now().Add(settleTime); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if runs, err := f.runs(); err == nil && len(runs) >= 3*size {
			return nil
		}
	}
	return fmt.Errorf("the fleet does not run within %s", settleTime)
}

func (f *fleet) begin() {
	f.start = time.Now()
	f.end = f.start.Add(f.length)
	if f.begun != nil {
		f.begun()
	}
}

func (f *fleet) over() bool { return !time.Now().Before(f.end) }

// joins starts a new member and says how long it takes to join, which it does over TCP.
func (f *fleet) joins(name string) (string, error) {
	begun := time.Now()
	p, err := f.add(name)
	if err != nil {
		return "", err
	}
	defer func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}()
	for ; !f.over(); time.Sleep(10 * time.Millisecond) {
		if log, err := os.ReadFile(p.log); err == nil && bytes.Contains(log, []byte("joined the fleet")) {
			f.joining = time.Since(begun)
			return fmt.Sprintf("a new member joined within %.2f s", f.joining.Seconds()), nil
		}
	}
	f.joining = f.length
	return fmt.Sprintf("a new member did not join within %.2f s", time.Since(begun).Seconds()), nil
}

// run is one run of the hook.
type run struct {
	pid        int
	start, end time.Time
}

// runs reads the journal.
func (f *fleet) runs() ([]run, error) {
	text, err := os.ReadFile(f.file("journal"))
	if err != nil {
		return nil, err
	}
	var runs []run
	for line := range strings.Lines(string(text)) {
		var what string
		var pid int
		var at int64
		if _, err := fmt.Sscanf(line, "%s %d %d", &what, &pid, &at); err != nil {
			continue
		}
		if what == "start" {
			runs = append(runs, run{pid: pid, start: time.Unix(0, at)})
			continue
		}
		for i := range runs {
			if runs[i].pid == pid && runs[i].end.IsZero() {
				runs[i].end = time.Unix(0, at)
			}
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return a.start.Compare(b.start) })
	return runs, nil
}

// summary is what became of the runs between two moments.
type summary struct {
	runs           int
	pause, overlap time.Duration
}

func summarise(runs []run, from, to time.Time) (s summary) {
	last := from // when the last run ended
	for _, r := range runs {
		if r.start.Before(from) || r.start.After(to) {
			continue
		}
		s.runs++
		s.pause = max(s.pause, r.start.Sub(last))
		if r.end.IsZero() {
			r.end = to
		}
		if until := min(r.end.Sub(r.start), last.Sub(r.start)); s.runs > 1 && until > 0 {
			s.overlap += until
		}
		if r.end.After(last) {
			last = r.end
		}
	}
	s.pause = max(s.pause, to.Sub(last))
	return s
}

// figures are what the agents have used and said so far.
type figures struct {
	cpu     []float64
	memory  float64
	lines   int
	revived int
}

// most is the CPU time of the agent that used most of it since before, in seconds.
func (f figures) most(before figures) float64 {
	most := 0.0
	for i := range before.cpu {
		most = math.Max(most, f.cpu[i]-before.cpu[i])
	}
	return most
}

func (f *fleet) figures() (all figures) {
	for _, p := range f.agents[:size] {
		pid := strconv.Itoa(p.cmd.Process.Pid)
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		var ticks float64
		if fields := strings.Fields(rest); len(fields) > 12 {
			for _, field := range fields[11:13] {
				n, _ := strconv.ParseFloat(field, 64)
				ticks += n
			}
		}
		all.cpu = append(all.cpu, ticks/100)
		status, _ := os.ReadFile("/proc/" + pid + "/status")
		if _, peak, ok := strings.Cut(string(status), "VmHWM:"); ok {
			var kib float64
			_, _ = fmt.Sscan(peak, &kib)
			all.memory = math.Max(all.memory, kib*1024)
		}
		log, _ := os.ReadFile(p.log)
		all.lines += bytes.Count(log, []byte("\n"))
		all.revived += bytes.Count(log, []byte(`"note":"revived"`))
	}
	return all
}

// freeAddr finds a loopback port that is free for TCP and UDP now.
func freeAddr() (netip.AddrPort, error) {
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return netip.AddrPort{}, err
		}
		addr := netip.MustParseAddrPort(l.Addr().String())
		p, err := net.ListenPacket("udp4", addr.String())
		_ = l.Close()
		if err == nil {
			return addr, p.Close()
		}
	}
	return netip.AddrPort{}, fmt.Errorf("no port is free for both TCP and UDP")
}
