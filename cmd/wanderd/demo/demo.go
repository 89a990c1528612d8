// Package demo runs a whole fleet in one process and shows it: complete agents on loopback, each with its own key,
// state directory, sockets and memberlist. They gate real copies of a generated tree.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Config configures a demo.
type Config struct {
	// Members is the size of the fleet, 1 to 26.
	Members int
	// For is the duration.
	For time.Duration
	// Out gets the output. Terminal is true if Out is a terminal with cursor control.
	Out      io.Writer
	Terminal bool
	// Version is the version that the agents report.
	Version string
}

// The fleet's constants: short enough to watch, load 0.67 with five members.
const (
	skip        = 200 * time.Millisecond
	op          = 400 * time.Millisecond
	minInterval = 3 * time.Second
	backups     = 2
	stopTimeout = 5 * time.Second
)

// MaxMembers is the number of names.
const MaxMembers = 26

func names() []string {
	return []string{
		"alder", "birch", "cedar", "dogwood", "elm", "fir", "gum", "hazel", "ivy", "juniper", "kapok", "larch", "maple",
		"nutmeg", "oak", "pine", "quince", "rowan", "spruce", "teak", "ulmo", "viburnum", "willow", "xylia", "yew",
		"zelkova",
	}
}

// Run starts the fleet, draws it for Config.For or until ctx is done, stops it and prints a summary.
func Run(ctx context.Context, cfg Config) error {
	dir, err := os.MkdirTemp("", "wanderd-demo-")
	if err != nil {
		return fmt.Errorf("cannot make a directory for the demo: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree, err := growTree(filepath.Join(dir, "origin"))
	if err != nil {
		return fmt.Errorf("cannot make the tree to copy: %w", err)
	}
	rec := newRecord(names()[:cfg.Members])
	fleet, err := newFleet(cfg, dir, tree, rec)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.For)
	defer cancel()
	errs := make([]error, len(fleet))
	var working sync.WaitGroup
	for i, a := range fleet {
		working.Go(func() { errs[i] = a.Run(ctx) })
	}
	(&screen{cfg: cfg, tool: tree.tool, rec: rec}).draw(ctx)
	working.Wait()
	rec.summary(cfg.Out)
	return errors.Join(errs...)
}

func newFleet(cfg Config, dir string, t tree, rec *record) ([]*agent.Agent, error) {
	var secret wire.Secret
	_, _ = rand.Read(secret[:])
	var all []*agent.Agent
	var join []string
	alone := agent.AloneRun
	for _, name := range names()[:cfg.Members] {
		home := filepath.Join(dir, name)
		a, err := agent.New(agent.Config{
			Name: name, Bind: netip.MustParseAddrPort("127.0.0.1:0"), Join: join, Alone: alone,
			StateDir: home, Socket: filepath.Join(home, "wanderd.sock"), Secret: &secret,
			StopTimeout: stopTimeout, Version: cfg.Version, Log: zerolog.Nop(), Observe: rec.observe,
			Gates: []gate.Config{{
				Name: "default", Hook: t.copyTo(filepath.Join(home, "copy")), HookTimeout: minInterval,
				Protocol: wander.Settings{
					Walk: wander.Sweep, Backups: backups, Skip: skip, Op: op, MinInterval: minInterval,
				},
			}},
		})
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", name, err)
		}
		all = append(all, a)
		join, alone = []string{all[0].Addr().String()}, agent.AloneWait
	}
	return all, nil
}

// tree is the directory that the hooks copy, and the tool with which they copy it: files of random bytes.
type tree struct{ path, tool string }

const (
	treeFiles    = 64
	treeFileSize = 32 << 10
)

func growTree(path string) (tree, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return tree{}, err
	}
	content := make([]byte, treeFileSize)
	for i := range treeFiles {
		_, _ = rand.Read(content)
		if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("file%02d", i)), content, 0o600); err != nil {
			return tree{}, err
		}
	}
	if _, err := exec.LookPath("rsync"); err == nil {
		return tree{path, "rsync"}, nil
	}
	return tree{path, "cp"}, nil
}

// copyTo returns the hook. It copies every byte each time, and limits the bandwidth if the tool can, so that a run is
// visible.
func (t tree) copyTo(dst string) []string {
	if t.tool == "rsync" {
		return []string{
			"rsync", "-a", "--delete", "--whole-file", "--ignore-times", "--bwlimit=5m", t.path + "/", dst + "/",
		}
	}
	return []string{"cp", "-a", t.path + "/.", dst}
}
