package main

import (
	"bytes"
	"crypto/ed25519"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A roster with which the agent would not start is already an error of "config check", and a check changes nothing.
func TestAConfigCheckKnowsTheRosterThatWasAgreedOn(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	check := func(roster ...string) (code int, said string) {
		var out bytes.Buffer
		p := program{stdout: &out, stderr: &out, now: noon}
		args := []string{
			"config", "check", "--hook", "/bin/true", "--policy", "tree", "--name", "a", "--state-dir",
			state, "--trust-hook",
		}
		for _, name := range roster {
			args = append(args, "--roster", name)
		}
		code = p.run(t.Context(), args)
		return code, out.String()
	}
	if code, said := check("a", "b", "c"); code != cli.ExitOK {
		t.Errorf("without a state directory: %d, %s", code, said)
	}
	dir, err := statedir.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }() // an agent may run there
	key, _, err := dir.NodeKey()
	if err != nil {
		t.Fatal(err)
	}
	roster := statedir.Roster{Agreed: true, Voters: []policy.Voter{
		{Name: "a", ID: wire.MemberIDOf(key.Public().(ed25519.PublicKey))},
		{Name: "b", ID: wire.MemberID{2}},
		{Name: "c", ID: wire.MemberID{3}},
	}}
	if err := dir.SaveRoster("default", roster); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		roster []string
		code   int
		want   string
	}{
		{[]string{"a", "b", "c"}, cli.ExitOK, "ok\n"},
		{[]string{"a", "b", "c", "d"}, cli.ExitOK, "ok\n"},
		{[]string{"a", "b", "d"}, cli.ExitConfig, "change one name at a time"},
	} {
		if code, said := check(c.roster...); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%v: %d, %s", c.roster, code, said)
		}
	}
	roster.Voters[0].ID = wire.MemberID{9}
	if err := dir.SaveRoster("default", roster); err != nil {
		t.Fatal(err)
	}
	if code, said := check("a", "b", "c"); code != cli.ExitConfig ||
		!strings.Contains(said, "give it its node key back") {
		t.Errorf("with another key: %d, %s", code, said)
	}
}
