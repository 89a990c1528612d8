package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
)

// told is what "wanderd status" prints on the node's host; toldOfAll is the same with --fleet.
func (n *node) told() string      { return n.prints("status") }
func (n *node) toldOfAll() string { return n.prints("status", "--fleet") }

func (n *node) prints(args ...string) string {
	n.fleet.t.Helper()
	out, _ := exec.Command(program(n.fleet.t), append(args, "--state-dir", n.state)...).CombinedOutput()
	return string(out)
}

// metrics returns the metrics that the node serves at its control socket.
func (n *node) metrics() string {
	n.fleet.t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(n.state, "wanderd.sock"))
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://wanderd/metrics")
	if err != nil {
		n.fleet.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		n.fleet.t.Fatal(err)
	}
	return string(text)
}

// called is what the node knows of the token of its gate; nil if it does not answer.
func (n *node) called() *control.Called {
	s, ok := n.status()
	if !ok {
		return nil
	}
	return s.Gates[0].Called
}

// A token that is called rests, is called by several hosts, and rests again. Each host says what it knows: who runs,
// who waits, and how many are before it.
func TestEachHostSaysWhoHasACalledTokenAndWhoWaits(t *testing.T) {
	f := onDemand(t, 5)
	f.start()
	for _, n := range f.nodes {
		until(t, n.name+" sees all", func() bool {
			s, ok := n.status()
			return ok && s.Members == len(f.nodes)
		})
	}
	home := f.homeOf(f.nodes[4])
	if home == f.nodes[0] { // Whoever runs knows what it is told as the holder, and not as the home.
		f.nodes[0], f.nodes[1] = f.nodes[1], f.nodes[0]
	}
	runner, waiting := f.nodes[0], f.nodes[1:4]
	first, release := runner.runsUntilReleased(":")
	callers := []*caller{first}
	for before, n := range waiting {
		callers = append(callers, n.exec("--", "true").begin())
		until(t, n.name+" knows its turn", func() bool {
			c := n.called()
			return c != nil && !c.Since.IsZero() && c.Turn != nil && c.Turn.Before == before
		})
	}
	until(t, "the first home knows all that wait", func() bool {
		c := home.called()
		return c != nil && c.Queue != nil && c.Queue.As == control.AsHome && c.Queue.Waiters == len(waiting) &&
			c.Queue.Oldest[0].Name == waiting[0].name
	})
	last := f.nodes[4]
	for _, c := range []struct {
		prints func() string
		want   string
	}{
		{home.told, `\n  waiters      3, as the first home knows: ` + waiting[0].name + ` for `},
		{last.told, `\n  holder       ` + runner.name + ` \(\w+\), for \d+`},
		{last.told, `\n  runs now     ` + runner.name + `: sh, for \d+`},
		{waiting[2].told, `\n  calling      for \d+s \(since [0-9:]+\); 2 hosts before this one, `},
		{runner.toldOfAll, `\n  homes        ` + home.name + ` \(3 waiters, the first for \d+s\)`},
		{runner.toldOfAll, `\n  waiting      3 hosts: ` + waiting[0].name + ` for .*` + waiting[2].name},
		{home.metrics, `\nwanderd_waiters\{gate="g"\} 3\n`},
		{home.metrics, `\nwanderd_messages_sent_total\{gate="g",kind="Queued"\} [1-9]`},
		{waiting[0].metrics, `\nwanderd_callers_waiting\{gate="g"\} 1\n`},
		{runner.metrics, `\nwanderd_command_wait_seconds_count\{gate="g"\} 1\n`},
	} {
		until(t, c.want, func() bool { return regexp.MustCompile(c.want).MatchString(c.prints()) })
	}
	last.exec("--wait", "1s", "--", "true").wantCode(75, "3 hosts before this one")
	release()
	for _, c := range callers {
		c.wantCode(0, "")
	}
	for _, n := range f.nodes {
		until(t, n.name+" says that the token is at rest", func() bool {
			text := n.told()
			return strings.Contains(text, "\n  runs now     nobody\n") && !strings.Contains(text, "calling") &&
				(n != home || strings.Contains(text, "\n  waiters      none, as "))
		})
	}
}

// homeOf returns the first home, as a node chooses it.
func (f *fleet) homeOf(n *node) (home *node) {
	f.t.Helper()
	until(f.t, n.name+" names a home", func() bool {
		c := n.called()
		for i := range f.nodes {
			if c != nil && len(c.Homes) > 0 && f.nodes[i].name == c.Homes[0].Name {
				home = f.nodes[i]
			}
		}
		return home != nil
	})
	return home
}
