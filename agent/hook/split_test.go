package hook

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplitFollowsTheQuotingRulesOfTheShell(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"  \t\n ", nil},
		{"./sync.sh", []string{"./sync.sh"}},
		{"./sync.sh a 'b c'", []string{"./sync.sh", "a", "b c"}},
		{`a\ b c\\d`, []string{"a b", `c\d`}},
		{`"a b"c'd e'`, []string{"a bcd e"}},
		{`"\"\\\$\` + "`" + `\n"`, []string{`"\$` + "`" + `\n`}},
		{`'' ""`, []string{"", ""}},
		{`a''b`, []string{"ab"}},
		{`sh -c 'a && b | c > $HOME'`, []string{"sh", "-c", "a && b | c > $HOME"}},
		{`\$HOME \; \&`, []string{"$HOME", ";", "&"}},
		{"~/sync.sh * #x", []string{"~/sync.sh", "*", "#x"}},
		{"grüße 'größe'", []string{"grüße", "größe"}},
	} {
		got, err := Split(c.in)
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
}

func TestSplitNamesThePositionOfAnError(t *testing.T) {
	for in, want := range map[string]string{
		`a 'b`:         "position 3: this ' is never closed",
		`a b"c d\"`:    `position 4: this " is never closed`,
		`a \`:          "position 3: a backslash at the end",
		`a && b`:       "position 3: '&' means something only to a shell",
		`a $HOME`:      "position 3: '$' means",
		`a "x $HOME"`:  "position 6: '$' means",
		"a `b`":        "position 3: '`' means",
		`a>b`:          "position 2: '>' means",
		`cd /tmp; ls`:  "position 8: ';' means",
		`"never`:       "position 1: this",
		`"never ends\`: "position 1: this",
	} {
		if words, err := Split(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want %q", in, words, err, want)
		}
	}
}

func TestSplitSplitsAsTheShellDoes(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to compare with")
	}
	// Without the blank line, and what a shell expands, Split and the shell must agree.
	line := rapid.StringOfN(rapid.SampledFrom([]rune(`ab =,.-\\''""  `)), 1, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		in := line.Draw(t, "line")
		words, err := Split(in)
		if err != nil {
			return
		}
		out, err := exec.Command(sh, "-c", `for word in `+in+`
			do printf '%s\n' "<$word>"; done`).Output()
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		var want strings.Builder
		for _, word := range words {
			want.WriteString("<" + word + ">\n")
		}
		if string(out) != want.String() {
			t.Fatalf("%q: the shell says %q, Split %q", in, out, words)
		}
	})
}
