package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

func (p *program) newReloadCommand() *cobra.Command {
	return p.asking(&cobra.Command{
		Use:   "reload",
		Short: "Let the agent on this host read its configuration again",
		Long: `Let the agent on this host read its configuration file again, as SIGHUP and "systemctl
reload wanderd" do. It loses neither its token nor a run nor those who wait.

What can change while an agent runs: the list of gates, the hooks and constants of soft
gates but skip and slots, hook_timeout, join, trust_hook, stop and stop_timeout. A gate
that is removed begins nothing any more, lets its run end and passes its token on. What
else has changed is named, and needs a restart; for a setting of a gate it is enough to
reload without the gate, and then with it. If anything in the file is wrong, nothing
changes, and the command says what and where, with exit code 78. Flags and variables
stay those with which the agent was started.`,
		Example: `  wanderd config check --config /etc/wanderd/wanderd.toml && wanderd reload`,
	}, func(ctx context.Context, client *control.Client) error {
		r, err := client.Reload(ctx)
		switch {
		case err != nil:
			return err
		case r.Problem != "":
			return exitError{code: exitConfig, err: errors.New("nothing was reloaded: " + r.Problem)}
		case len(r.Changed)+len(r.Restart) == 0:
			_, err = fmt.Fprintln(p.stdout, "nothing has changed")
			return err
		}
		for _, list := range []struct {
			name string
			what []string
		}{{"changed", r.Changed}, {"waits", r.Waits}, {"needs restart", r.Restart}} {
			for _, what := range list.what {
				_, _ = fmt.Fprintf(p.stdout, "%-13s  %s\n", list.name, printable(what))
			}
		}
		return nil
	})
}

// rereading returns how an agent reads its configuration again that was started with layers.
func (p *program) rereading(flags settings.Flags, start *config.Layers) agent.Reread {
	running := config.NewRunning(start)
	return func() (agent.Rereading, error) {
		layers := config.Read(flags, p.environ)
		if err := layers.Check(); err != nil {
			return agent.Rereading{}, err
		}
		next := agent.Rereading{Accept: func() { running.Accept(layers) }}
		next.About.Changed, next.About.Restart = running.Compare(layers)
		running.Keep(layers)
		next.Config = layers.Agent
		return next, nil
	}
}
