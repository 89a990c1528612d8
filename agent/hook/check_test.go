package hook

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCheckNamesTheThingAndTheRemedy(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o700); err != nil {
		t.Fatal(err)
	}
	plain := write("plain", "#!/bin/sh\n", 0o600)
	for name, c := range map[string]struct {
		argv []string
		want []string
	}{
		"none":       {nil, []string{"--hook ./sync.sh"}},
		"empty name": {[]string{""}, []string{"--hook ./sync.sh"}},
		"not there": {
			[]string{dir + "/missing"}, []string{dir + "/missing", "does not exist", "check the path"},
		},
		"not in PATH":      {[]string{"no-such-hook"}, []string{`"no-such-hook"`, "PATH", "./no-such-hook"}},
		"directory":        {[]string{dir + "/."}, []string{dir, "directory"}},
		"not a file":       {[]string{fifo}, []string{fifo, "not a regular file"}},
		"not executable":   {[]string{plain}, []string{"chmod +x " + plain}},
		"empty file":       {[]string{write("empty", "", 0o700)}, []string{"is empty"}},
		"no #!":            {[]string{write("bare", "echo hello\n", 0o700)}, []string{"#!/bin/sh", "first line"}},
		"nothing after #!": {[]string{write("blank", "#! \n", 0o700)}, []string{"no interpreter"}},
		"no interpreter":   {[]string{write("perl", "#!/no/perl -w\n", 0o700)}, []string{"/no/perl", "install"}},
		"not in env's PATH": {
			[]string{write("env", "#!/usr/bin/env no-such-snake\n", 0o700)}, []string{"no-such-snake"},
		},
		"from Windows":        {[]string{write("crlf", "#!/bin/sh\r\necho\r\n", 0o700)}, []string{"Windows", "sed -i"}},
		"a file as directory": {[]string{plain + "/x"}, []string{"not a directory"}},
	} {
		err := Check(c.argv, false)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", name, err, want)
			}
		}
	}
}

func TestCheckAcceptsHooksThatCanRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"script": "#!/bin/sh\n", "spaced": "#! /bin/sh -e\n", "env": "#!/usr/bin/env sh\n",
		"split":   "#!/usr/bin/env -S sh -e\n",
		"endless": "#!/bin/sh",
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Check([]string{"./" + name}, false); err != nil {
			t.Error(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"sh", "/bin/sh", self} {
		if err := Check([]string{program, "argument"}, false); err != nil {
			t.Error(err)
		}
	}
}

func TestAHookThatOthersCanReplaceIsRefusedUnlessItIsTrusted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hooks")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	spoils := map[string]func() error{
		"its mode":              func() error { return os.Chmod(file, 0o777) },
		"its directory":         func() error { return os.Chmod(dir, 0o777) },
		"its owner":             func() error { return os.Lchown(file, 4242, -1) },
		"its directory's owner": func() error { return os.Lchown(dir, 4242, -1) },
		"nothing":               nil,
	}
	for what, spoil := range spoils {
		if spoil != nil && os.Geteuid() != 0 && strings.Contains(what, "owner") {
			continue // only root can give a file away
		}
		if spoil != nil {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
		}
		switch err := Check([]string{file}, false); {
		case spoil == nil && err != nil:
			t.Errorf("%s: %v", what, err)
		case spoil != nil && (err == nil || !strings.Contains(err.Error(), dir) ||
			!strings.Contains(err.Error(), "--trust-hook")):
			t.Errorf("%s: %v", what, err)
		}
		if err := Check([]string{file}, true); err != nil {
			t.Errorf("%s, and trusted: %v", what, err)
		}
		for _, path := range []string{dir, file} {
			if os.Geteuid() == 0 {
				_ = os.Lchown(path, 0, -1)
			}
			_ = os.Chmod(path, 0o700)
		}
	}
}
