package control

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// shortDir returns a directory with a path short enough for a socket in it. t.TempDir does not promise that.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wd") //nolint:usetesting // its paths contain the test name and are too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestOnlyTheOwnerCanConnect(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := filepath.Join(shortDir(t), "s")
	s, err := listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v, %v; want a socket with mode 0600", info.Mode(), err)
	}
}

// deadSocket leaves a socket behind, like a killed agent.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSocketOfADeadAgentIsReplaced(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	deadSocket(t, path)
	s, err := listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func TestSocketOfALivingAgentIsRefused(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	s, err := listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := listen(path, ""); err == nil || !strings.Contains(err.Error(), "in use by another agent") {
		t.Errorf("second agent: %v", err)
	}
}

// If several agents start at the same time and find a dead agent's socket, one gets it.
func TestStaleSocketIsTakenOverOnce(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	deadSocket(t, path)
	var (
		wg  sync.WaitGroup
		got = make(chan *socket, 8)
	)
	for range cap(got) {
		wg.Go(func() {
			if s, err := listen(path, ""); err == nil {
				got <- s
			}
		})
	}
	wg.Wait()
	if len(got) != 1 {
		t.Errorf("%d agents listen on one socket", len(got))
	}
	for range len(got) {
		_ = (<-got).Close()
	}
}

func TestOtherFilesAreNotReplaced(t *testing.T) {
	dir := shortDir(t)
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "target")
	deadSocket(t, target)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, dir} {
		if _, err := listen(path, ""); err == nil || !strings.Contains(err.Error(), "is not a socket") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestImpossiblePathsAreExplained(t *testing.T) {
	dir := shortDir(t)
	for path, want := range map[string]string{
		"": "has no path", "@wanderd": "would be no file",
		"/" + strings.Repeat("x", maxPath):       "name a shorter one with --socket",
		filepath.Join(dir, "missing", "s"):       "does not exist: create it",
		filepath.Join(dir, "missing", "dir", ""): "does not exist: create it",
	} {
		if _, err := listen(path, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("listen(%q): %v; want %q", path, err, want)
		}
	}
}

func TestLongestPathWorks(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, strings.Repeat("x", maxPath-len(dir)-1))
	s, err := listen(path, "")
	if err != nil {
		t.Fatalf("%d bytes: %v", len(path), err)
	}
	_ = s.Close()
}

func TestCloseRemovesOnlyItsOwnFile(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	s, err := listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.remove(); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
	other, err := listen(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if err := s.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("another agent's socket was removed: %v", err)
	}
	if err := other.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the own socket is still there: %v", err)
	}
}

// An agent that stops closes its connections: a client that asks then is told that there is no agent any more.
func TestAnAgentThatStopsWhileItIsAskedIsNoAgent(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	if _, err := Dial(path).Status(t.Context()); !errors.Is(err, ErrNoAgent) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}
