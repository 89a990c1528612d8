package agenttest

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/policy/wander"
)

func TestAPauseStopsTheLoopForItsTime(t *testing.T) {
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		net := memnet.New(memnet.Options{Seed: 1})
		a, err := New(agent.Config{
			Name: "a", Bind: netip.MustParseAddrPort("10.0.0.1:7946"), StateDir: dir, Socket: filepath.Join(dir, "s"),
			Insecure:    true,
			StopTimeout: time.Second, Log: zerolog.Nop(),
			Gates: []gate.Config{{Name: "default", Protocol: wander.Settings{Skip: time.Second, Walk: wander.Sweep}}},
		}, func(addr netip.AddrPort) (*transport.Endpoint, error) { return net.Endpoint(addr), nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		time.Sleep(time.Second)
		a.Pause(ctx, time.Minute)
		begun := time.Now()
		if s, err := a.status(ctx); err != nil || time.Since(begun) < time.Minute-time.Second ||
			len(s.Gates) != 1 {
			t.Errorf("an answer after %v, %v", time.Since(begun), err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // memberlist's last probes run into their timeouts
	})
}
