package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// fileManual returns the manual page of the configuration file, made from the table of settings.
func fileManual() string {
	var page strings.Builder
	cli.WriteTitle(&page, "wanderd.toml", 5, "Configuration of wanderd")
	page.WriteString(".SH DESCRIPTION\n")
	cli.WriteRoff(&page, fileIntroduction)
	group := ""
	for _, s := range slices.Concat(config.Table(), config.GateTable()) {
		if s.NotInFile {
			continue
		}
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&page, ".SH %s\n", strings.ToUpper(cli.Roff(group)))
		}
		fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", cli.Roff(s.Key), cli.Roff(s.Usage()))
	}
	cli.WriteSeeAlso(&page, "wanderd (8)", "wanderd-config-check (1)", "wanderd-config-show (1)")
	return page.String()
}

const fileIntroduction = `A TOML file for "wanderd --config". A flag wins over its environment variable, the variable
over the file, the file over the default. A key that does not exist, or a duration without a unit, is an error that
names its line.

The keys of a gate stand at the top of the file, for all gates, or in a [[gate]] table, for that gate:

  min_interval = "10m"
  [[gate]]
  name = "sync"
  hook = ["./sync.sh", "--quiet"]
  [[gate]]
  name = "upgrade"
  hook = "./upgrade.sh"
  min_interval = "1d"
`
