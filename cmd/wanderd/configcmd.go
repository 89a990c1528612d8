package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func (p *program) newConfigCommand() *cobra.Command {
	return cli.NewGroupCommand(&cobra.Command{
		Use:   "config",
		Short: "Show or check the configuration",
		Long: `Show or check the configuration that an agent would run with.

Both commands take every flag of "wanderd" and read the same environment and file, so
append "config show" or "config check" to the command line of the agent.`,
	}, p.newConfigShowCommand(), p.newConfigCheckCommand())
}

func (p *program) newConfigShowCommand() *cobra.Command {
	flags, asJSON := settings.Flags{}, false
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every setting in force and its origin",
		Long: `Print every setting in force and its origin: a flag, an environment variable, a
line of the file, or a default and its rule.

The output is a configuration file: with --config it has the same effect on this host.
"wanderd config check" checks whether the settings fit together.`,
		Example: `  wanderd config show --config /etc/wanderd/wanderd.toml
  wanderd --hook ./sync.sh --min-interval 1h config show > wanderd.toml
  wanderd config show --json | jq .settings.bind`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			layers := config.Read(flags, p.environ)
			p.warn(layers.Warnings)
			if err := layers.Err(); err != nil {
				return err
			}
			if asJSON {
				return layers.WriteJSON(p.stdout)
			}
			return layers.WriteTOML(p.stdout)
		},
	}
	addAllFlags(cmd, flags)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON.")
	return cmd
}

func (p *program) newConfigCheckCommand() *cobra.Command {
	flags := settings.Flags{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "List all errors in the configuration",
		Long: `List all errors in the configuration, or print "ok" and a line for
each gate: what it runs, and all its settings.

It checks the hooks and the secret, as the agent does at its start, and compares the rosters
of strict gates with what the state directory knows of them. It binds no address, and
changes nothing. Run it as root or as the agent's user before you restart the agent.`,
		Example: `  wanderd config check --config /etc/wanderd/wanderd.toml && systemctl restart wanderd`,
		Args:    cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			layers := config.Read(flags, p.environ)
			if err := layers.Check(); err != nil {
				return err
			}
			invalid := &settings.Invalid{About: "configuration"}
			for _, err := range agent.CheckRosters(&layers.Agent) {
				invalid.Problems = append(invalid.Problems, err.Error())
			}
			if len(invalid.Problems) > 0 {
				return invalid
			}
			p.warn(layers.Warnings)
			_, err := io.WriteString(p.stdout, "ok\n"+layers.Summary())
			return err
		},
	}
	addAllFlags(cmd, flags)
	return cmd
}

// warn writes warnings to stderr, for commands without a log.
func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		_, _ = fmt.Fprintf(p.stderr, "wanderd: warning: %s\n", w)
	}
}
