package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/ports"
)

// BenchmarkExec compares "wanderd exec -- true" with other programs that run a command under a lock, and with the
// command alone. It prints the median and the 99th percentile; each call is a process, from its start to its end.
func BenchmarkExec(b *testing.B) {
	b.Run("true", func(b *testing.B) { measure(b, "true") })
	b.Run("flock", func(b *testing.B) {
		if _, err := exec.LookPath("flock"); errors.Is(err, exec.ErrNotFound) {
			b.Skip("no flock here")
		}
		measure(b, "flock", filepath.Join(b.TempDir(), "lock"), "true")
	})
	b.Run("wanderd", func(b *testing.B) {
		n := alone(b)
		measure(b, program(b), "exec", "--state-dir", n.state, "--", "true")
	})
	b.Run("wanderd version", func(b *testing.B) { measure(b, program(b), "version") })
	b.Run("etcdctl", func(b *testing.B) {
		for _, name := range []string{"etcd", "etcdctl"} {
			if _, err := exec.LookPath(name); errors.Is(err, exec.ErrNotFound) {
				b.Skipf("no %s here", name)
			}
		}
		endpoint := startEtcd(b)
		measure(b, "etcdctl", "--endpoints", endpoint, "lock", "bench", "true")
	})
}

// startEtcd starts one etcd server on loopback.
func startEtcd(b *testing.B) (endpoint string) {
	b.Helper()
	client, peer := "http://"+ports.For(b), "http://"+ports.For(b)
	server := exec.Command("etcd", "--data-dir", b.TempDir(), "--name", "bench", "--listen-client-urls", client,
		"--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "bench="+peer)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	b.Setenv("ETCDCTL_API", "3")
	until(b, "etcd answers", func() bool {
		return exec.Command("etcdctl", "--endpoints", client, "endpoint", "health").
			Run() == nil
	})
	return client
}

// measure runs a program again and again.
func measure(b *testing.B, argv ...string) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		began := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for name, share := range map[string]int{"p50-ms": 50, "p99-ms": 99} {
		b.ReportMetric(took[(len(took)-1)*share/100].Seconds()*1000, name)
	}
	b.ReportMetric(0, "ns/op") // the median says more
}
