package config

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

const configurationPage = "../../../docs/configuration.md"

// The page is made from the table of settings, so nobody has to write it, and no setting can be forgotten.
func TestConfigurationPageIsTheTable(t *testing.T) {
	want := configurationText()
	if *update {
		if err := os.WriteFile(configurationPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(configurationPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(got), want); d != "" {
		t.Errorf("docs/configuration.md is not the table (-page +table); rewrite it with "+
			"go test ./cmd/wanderd/config -run ConfigurationPage -update\n%s", d)
	}
}

const configurationTop = `# Configuration

All settings of an agent. "go test ./cmd/wanderd/config -run ConfigurationPage -update" writes this page from the
table of settings: nothing on it is typed by hand.

A flag wins over its environment variable, the variable over the file (` + "`--config`" + `), the file over the default.
` + "`wanderd config show`" + ` prints each value in force and its origin, ` + "`wanderd config check`" + ` lists all
errors. A key that does not exist, or a duration without a unit, is an error that names its line. Durations need a
unit: 90s, 10m, 1h30m, 1d.

The keys of the file are the names of the flags with underscores. The variable of a setting is its key in capitals, with
` + "`WANDERD_`" + ` before it; in a variable, commas separate the elements of a list, and semicolons windows. An empty
variable counts as not set.

The settings of a gate stand at the top of the file, for all gates, or in a ` + "`[[gate]]`" + ` table, for that gate. A
table wins over the top, also over a flag. Use either ` + "`--hook`" + ` or ` + "`[[gate]]`" + ` tables, not both. Of
each table only ` + "`name`" + ` must be set:

` + "```toml" + `
min_interval = "10m"

[[gate]]
name = "sync"            # 1 to 64 of a-z, 0-9, '-', '_' and '.', the same on every host
hook = ["./sync.sh", "--quiet"]

[[gate]]
name = "upgrade"
hook = "./upgrade.sh"
min_interval = "1d"
` + "```" + `

A reload (` + "`wanderd reload`" + `, ` + "`systemctl reload wanderd`" + `, SIGHUP) changes the settings of
which this page says so, and the list of gates. All others need a restart.
`

func configurationText() string {
	var b strings.Builder
	b.WriteString(configurationTop)
	ofGates := constants(new(terms))
	soft := (&section{}).tunable(&section{})
	inTree := terms{policy: usual.PolicyTree}
	strict := (&section{terms: inTree}).tunable(&section{terms: inTree})
	group := ""
	own := GateTable()
	for _, s := range slices.Concat(Table(), own) {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		var about strings.Builder
		if s.NotInFile {
			about.WriteString("Not in a file. ")
		}
		if own.Find(s.Key) == nil {
			flag := "--" + s.Flag() + " " + (&settings.FlagValue{Setting: s}).Type()
			about.WriteString("`" + strings.TrimSpace(flag) + "`. ")
		}
		switch {
		case s.Rule != "":
			fmt.Fprintf(&about, "Default: %s. ", s.Rule)
		case s.Default != "":
			fmt.Fprintf(&about, "Default: `%s`. ", s.Default)
		default:
			about.WriteString("No default. ")
		}
		if ofGates.Find(s.Key) != nil {
			about.WriteString("Also in `[[gate]]`. ")
		}
		switch {
		case own.Find(s.Key) != nil:
		case ofGates.Find(s.Key) == nil && slices.Contains(reloadable(), s.Key), slices.Contains(strict, s.Key):
			about.WriteString("A reload changes it. ")
		case slices.Contains(soft, s.Key):
			about.WriteString("A reload changes it in soft gates. ")
		}
		if s.Needs != "" {
			fmt.Fprintf(&about, "It needs `%s`. ", s.Needs)
		}
		fmt.Fprintf(&b, "\n### `%s`\n\n%s\n\n%s\n", s.Key, paragraph(about.String(), 120), paragraph(s.Help, 120))
	}
	return b.String()
}

// paragraph breaks text into lines of at most width characters.
func paragraph(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
