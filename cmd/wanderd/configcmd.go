package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

func (p *program) newConfigCommand() *cobra.Command {
	return newGroupCommand(&cobra.Command{
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

The output is a configuration file: saved and read with --config, it has the same
effect on this host. To check whether the settings fit together, use "wanderd config
check".`,
		Example: `  wanderd config show --config /etc/wanderd/wanderd.toml
  wanderd --hook ./sync.sh --min-interval 1h config show > wanderd.toml
  wanderd config show --json | jq .settings.bind`,
		Args: noArgs,
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
each gate.

It checks the hooks and the secret, as the agent does at its start, but it binds no
address and does not open the state directory: run it as the user of the agent before
you restart the agent.`,
		Example: `  wanderd config check --config /etc/wanderd/wanderd.toml && systemctl restart wanderd`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			layers := config.Read(flags, p.environ)
			if err := layers.Check(); err != nil {
				return err
			}
			p.warn(layers.Warnings)
			return writeChecked(p.stdout, layers.Agent.Gates)
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

// writeChecked writes a line for each gate.
func writeChecked(w io.Writer, gates []agent.GateConfig) error {
	var b strings.Builder
	b.WriteString("ok\n")
	for i := range gates {
		switch k := gates[i].Protocol.(type) {
		case wander.Settings:
			fmt.Fprintf(&b, "gate %s: %s (%s)\n", gates[i].Name, operationOf(&gates[i], k.MinInterval), softTerms(&gates[i], &k))
		case strict.Settings:
			fmt.Fprintf(&b, "gate %s: %s (%s)\n", gates[i].Name, operationOf(&gates[i], k.MinInterval), strictTerms(&gates[i], &k))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// operationOf says what a gate runs, and how often.
func operationOf(g *agent.GateConfig, minInterval time.Duration) string {
	switch {
	case len(g.Hook) > 0:
		return strings.Join(g.Hook, " ") + ", every " + settings.FormatDuration(minInterval)
	case minInterval > 0:
		return "commands, at most one every " + settings.FormatDuration(minInterval)
	}
	return "commands"
}

func timeoutOf(g *agent.GateConfig) string {
	if g.HookTimeout == 0 {
		return "none"
	}
	return settings.FormatDuration(g.HookTimeout)
}

func softTerms(g *agent.GateConfig, k *wander.Settings) string {
	silence, op := "by the default rule", "measured"
	if k.MaxInterval > 0 {
		silence = settings.FormatDuration(k.MaxInterval)
	}
	if k.Op > 0 {
		op = settings.FormatDuration(k.Op)
	}
	return fmt.Sprintf("op %s, skip %s, hook_timeout %s, slots %d, backups %d, on_lost %s, max_interval %s",
		op, settings.FormatDuration(k.Skip), timeoutOf(g), k.Slots, k.Backups, k.OnLost, silence)
}

func strictTerms(g *agent.GateConfig, k *strict.Settings) string {
	moves := "a tree"
	if k.Moves == strict.Ring {
		moves = "a ring, request " + k.Request.String()
	}
	return fmt.Sprintf("strict, %s, roster %s, lease %s, kill_after %s, hook_timeout %s, backups %d", moves, strings.Join(g.Roster, " "),
		settings.FormatDuration(k.Lease), settings.FormatDuration(k.KillAfter), timeoutOf(g), k.Backups)
}
