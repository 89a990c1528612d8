package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// strictGate is a configuration of a host called a with one gate.
func strictGate(lines ...string) reading {
	return reading{
		env:  []string{"WANDERD_STATE_DIR=/var/x", "WANDERD_NAME=a"},
		file: "[[gate]]\nname = \"g\"\n" + strings.Join(lines, "\n") + "\n",
	}
}

func TestAStrictGateHasARosterAndALease(t *testing.T) {
	for _, c := range []struct {
		name string
		in   reading
		want gate.Config
	}{
		{
			"tree", strictGate(`policy = "tree"`, `roster = ["c", "a", "b"]`),
			gate.Config{
				Name: "g", Roster: []string{"c", "a", "b"}, KillAfter: 5 * time.Second,
				Protocol: strict.Settings{
					Moves: strict.Tree, Request: ring.Martin, Backups: 1, Lease: 8 * time.Second,
					KillAfter: 5 * time.Second,
					Margin:    hook.KillMargin, Rho: 0.01, Patience: patience,
				},
			},
		},
		{
			"ring with all that it takes",
			strictGate(`policy = "ring"`, `roster = ["a", "b", "c", "d", "e"]`, `request = "q"`, `kill_after = "1s"`,
				`lease = "10s"`, `backups = 3`,
				`hook = "/bin/true"`, `min_interval = "1h"`),
			gate.Config{
				Name: "g", Hook: []string{"/bin/true"}, HookTimeout: time.Hour,
				Roster: []string{"a", "b", "c", "d", "e"}, KillAfter: time.Second,
				Protocol: strict.Settings{
					Moves: strict.Ring, Request: ring.Q, Backups: 3, Lease: 10 * time.Second, KillAfter: time.Second,
					Margin: hook.KillMargin,
					Rho:    0.01, Patience: patience, MinInterval: time.Hour, RetryAfter: 6 * time.Minute,
				},
			},
		},
		{
			"flags alone",
			reading{env: []string{"WANDERD_STATE_DIR=/var/x"}, flags: map[string][]string{
				"hook": {"/bin/true"}, "policy": {"ring"}, "roster": {"a,b,c"}, "name": {"b"}, "kill_after": {"2s"},
				"walk": {"random"},
			}},
			gate.Config{
				Name: "default", Hook: []string{"/bin/true"}, HookTimeout: 10 * time.Minute,
				Roster: []string{"a", "b", "c"}, KillAfter: 2 * time.Second,
				Protocol: strict.Settings{
					Moves: strict.Ring, Request: ring.Martin, Backups: 1, Lease: 4 * time.Second,
					KillAfter: 2 * time.Second, Margin: hook.KillMargin,
					Rho: 0.01, Patience: patience, MinInterval: 10 * time.Minute, RetryAfter: time.Minute,
				},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := c.in.read(t)
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
			c.want.WithWait = withWait
			if diff := cmp.Diff([]gate.Config{c.want}, l.Agent.Gates); diff != "" {
				t.Error(diff)
			}
			if len(l.Warnings) > 0 {
				t.Errorf("warnings: %q", l.Warnings)
			}
		})
	}
}

// What the ballot would refuse once the keys are known is refused earlier, with names and values.
func TestAStrictGateThatCouldNeverRunIsRefused(t *testing.T) {
	const roster = `roster = ["a", "b", "c"]`
	for _, c := range []struct {
		name, want string
		in         reading
	}{
		{
			"no roster", `gate "g": a gate with policy = "tree" needs a roster: list the names`,
			strictGate(`policy = "tree"`),
		},
		{
			"this host is not in it", `roster: "a", which is the name of this host, is not in it`,
			strictGate(`policy = "tree"`, `roster = ["b", "c", "d"]`),
		},
		{"one name twice", `roster: "b" is in it twice`, strictGate(`policy = "tree"`, `roster = ["a", "b", "b"]`)},
		{
			"too many backups", `backups: 2 is too many for a roster of 3: at most 1`,
			strictGate(`policy = "ring"`, roster, `backups = 2`),
		},
		{"a short lease", `gate "g": lease 6s (wanderd.toml:5) is too short for kill_after 5s (default): raise lease ` +
			`to 6.1s, or lower kill_after`, strictGate(`policy = "ring"`, roster, `lease = "6s"`)},
		{
			"a long kill_after", `kill_after 10s (wanderd.toml:6): raise lease to`,
			strictGate(`policy = "ring"`, roster, `lease = "8s"`, `kill_after = "10s"`),
		},
		{
			"no time to end", `kill_after: 1ms is below 100ms`,
			strictGate(`policy = "ring"`, roster, `kill_after = "1ms"`),
		},
		{
			"a soft gate's walk", `walk: it has no effect in a gate with policy = "ring"`,
			strictGate(`policy = "ring"`, roster, `walk = "random"`),
		},
		{
			"a ring's request", `request: it has no effect in a gate with policy = "tree"`,
			strictGate(`policy = "tree"`, roster, `request = "q"`),
		},
		{
			"a soft gate's roster", `roster: it has no effect in a gate with policy = "call" (default: without a hook)`,
			strictGate(roster),
		},
		{
			"a soft gate's lease", `lease: it has no effect in a gate with policy = "wander" (wanderd.toml:3)`,
			strictGate(`policy = "wander"`, `lease = "1m"`),
		},
		{
			"a roster for no gate", `WANDERD_ROSTER: no gate has a policy with a roster`,
			reading{env: []string{"WANDERD_STATE_DIR=/x", "WANDERD_HOOK=/bin/true", "WANDERD_ROSTER=a,b"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems := problemsOf(c.in.read(t).Check())
			if len(problems) != 1 || !strings.Contains(problems[0], c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), c.want)
			}
		})
	}
}

// A gate that is accepted here is also accepted by its protocol, whichever members have the keys.
func TestAnAcceptedGateIsAcceptedByItsProtocol(t *testing.T) {
	for _, policy := range []string{"ring", "tree"} {
		for n := 1; n <= 7; n++ {
			for _, more := range [][]string{
				nil, {`kill_after = "100ms"`}, {`kill_after = "1m"`}, {`kill_after = "5s"`, `lease = "6200ms"`},
			} {
				names := []string{"a", "b", "c", "d", "e", "f", "g"}[:n]
				in := strictGate(append(more, `policy = "`+policy+`"`, `roster = ["`+strings.Join(names, `", "`)+
					`"]`)...)
				l := in.read(t)
				if err := l.Check(); err != nil {
					t.Fatal(err)
				}
				var ids []wire.MemberID
				for i := range names {
					ids = append(ids, wire.MemberID{byte(i + 1)})
				}
				roster, err := ballot.NewRoster(names, ids)
				if err != nil {
					t.Fatal(err)
				}
				s := l.Agent.Gates[0].Protocol.(strict.Settings)
				s.Roster = &roster
				if err := s.Check(ids[0]); err != nil {
					t.Errorf("%s of %d, %q: %v", policy, n, more, err)
				}
				if warned := len(l.Warnings) > 0; warned != (n == 1 || n%2 == 0) {
					t.Errorf("a roster of %d: %q", n, l.Warnings)
				}
			}
		}
	}
}

func TestSettingsWithoutEffectInAGateAreNotShown(t *testing.T) {
	l := strictGate(`policy = "tree"`, `roster = ["a", "b", "c"]`).read(t)
	keys := l.gates[0].applying().Keys()
	for key, want := range map[string]bool{
		"roster": true, "lease": true, "backups": true, "hook": true, "walk": false, "request": false, "on_lost": false,
	} {
		if slices.Contains(keys, key) != want {
			t.Errorf("%s is shown: %v", key, !want)
		}
	}
}
