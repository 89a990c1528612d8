//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/lab/ports"
)

// idleScrapes holds connections to the metrics of each agent, with half a request on each, and measures how long a
// scrape takes meanwhile.
func idleScrapes(f *fleet) (string, error) {
	working := dialAll(f, 500, func(p *process) netip.AddrPort { return p.metrics }, func(conn net.Conn) {
		_, _ = conn.Write([]byte("GET /metrics HT"))
		hold(conn)
	})
	client := http.Client{Timeout: f.length}
	return f.asked(working.Wait, "a scrape", func() error {
		resp, err := client.Get("http://" + f.agents[0].metrics.String() + "/metrics")
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	})
}

// idleControl holds connections to the control socket of each agent in the same way, and measures how long a list of
// members takes meanwhile.
func idleControl(f *fleet) (string, error) {
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	for _, p := range f.agents[:size] {
		for range 500 {
			conn, err := net.DialTimeout("unix", p.Socket(), time.Second)
			if err != nil {
				return "", err
			}
			_, _ = conn.Write([]byte("GET /v1/st"))
			open = append(open, conn)
		}
	}
	return f.asked(func() {}, "a list of members", func() error {
		_, err := f.nodes()
		return err
	})
}

// asked calls ask once a second until the attack is over, and returns the longest time that a call took.
func (f *fleet) asked(wait func(), what string, ask func() error) (string, error) {
	var longest time.Duration
	failed, times := 0, 0
	for ; !f.over(); time.Sleep(time.Second) {
		begun := time.Now()
		if times++; ask() != nil {
			failed++
		}
		longest = max(longest, time.Since(begun))
	}
	wait()
	return fmt.Sprintf("%s took %.2f s at most, %d of %d failed", what, longest.Seconds(), failed, times), nil
}

// replaceable is a file that another user of the host can replace, or that is not what it has to be.
type replaceable struct {
	name string
	// root is true if only root can make it.
	root bool
	// make makes it in a directory. It returns the path of what must stay as it is, if anything must.
	make func(dir string) (precious string, err error)
}

func allReplaceable() []replaceable {
	chmod := func(name string, mode os.FileMode) func(string) (string, error) {
		return func(dir string) (string, error) { return "", os.Chmod(filepath.Join(dir, name), mode) }
	}
	chown := func(name string) func(string) (string, error) {
		return func(dir string) (string, error) { return "", os.Chown(filepath.Join(dir, name), 65534, -1) }
	}
	return []replaceable{
		{"hook of mode 0777", false, chmod("hook.sh", 0o777)},
		{"directory of mode 0777", false, chmod(".", 0o777)},
		{"secret of mode 0666", false, chmod("secret", 0o666)},
		{"hook of another user", true, chown("hook.sh")},
		{"secret of another user", true, chown("secret")},
		{"pipe as the secret", false, func(dir string) (string, error) {
			path := filepath.Join(dir, "secret")
			if err := os.Remove(path); err != nil {
				return "", err
			}
			return "", syscall.Mkfifo(path, 0o600)
		}},
		{"link as the lock", false, func(dir string) (string, error) {
			precious := filepath.Join(dir, "precious")
			if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
				return "", err
			}
			return precious, os.Symlink(precious, filepath.Join(dir, "state", "lock"))
		}},
	}
}

// files starts agents beside the fleet whose files others can replace, and checks that each refuses to start within
// five seconds and names the path.
func files(f *fleet) (string, error) {
	refused := 0
	var accepted, skipped []string
	for i, bad := range allReplaceable() {
		if bad.root && os.Getuid() != 0 {
			skipped = append(skipped, bad.name)
			continue
		}
		dir := f.File(fmt.Sprintf("files%d", i))
		ok, err := f.refuses(dir, bad)
		switch {
		case err != nil:
			return "", fmt.Errorf("%s: %w", bad.name, err)
		case ok:
			refused++
		default:
			accepted = append(accepted, bad.name)
		}
	}
	f.exceeded = append(f.exceeded, accepted...)
	note := fmt.Sprintf("%d refused with the path", refused)
	if len(skipped) > 0 {
		note += "; only root can try: " + strings.Join(skipped, ", ")
	}
	return note, nil
}

// refuses makes a directory with the files of an agent, spoils one of them, and starts the agent.
func (f *fleet) refuses(dir string, bad replaceable) (ok bool, err error) {
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		return false, err
	}
	for name, mode := range map[string]os.FileMode{"hook.sh": 0o700, "secret": 0o600} {
		text, err := os.ReadFile(f.File(name))
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, mode); err != nil {
			return false, err
		}
	}
	precious, err := bad.make(dir)
	if err != nil {
		return false, err
	}
	addr, release, err := ports.Claim()
	if err != nil {
		return false, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.program, "--hook", filepath.Join(dir, "hook.sh")+" /dev/null", "--secret-file",
		filepath.Join(dir, "secret"),
		"--state-dir", filepath.Join(dir, "state"), "--bind", addr)
	out, err := cmd.CombinedOutput()
	ok = err != nil && ctx.Err() == nil && strings.Contains(string(out), dir)
	if precious != "" {
		text, err := os.ReadFile(precious)
		ok = ok && err == nil && slices.Equal(text, []byte("precious"))
	}
	return ok, nil
}
