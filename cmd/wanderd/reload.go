package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func (p *program) newReloadCommand() *cobra.Command {
	return p.asking(&cobra.Command{
		Use:   "reload",
		Short: "Let the agent on this host read its configuration again",
		Long: `Let the agent on this host read its configuration file again, as SIGHUP and "systemctl
reload wanderd" do. The agent keeps its token, its run and its waiting callers. An agent
that was started with SIGHUP ignored, as by nohup, goes on ignoring it: use this command.

A reload can change the list of gates, hooks, hook_timeout, join, trust_hook, stop,
stop_timeout, the receivers of events, and the constants of soft gates except skip and
slots. The agent names each other setting that has changed: it needs a restart. If it is a
setting of a gate, you can also reload without the gate, and then with it. A gate that is
removed starts nothing any more, lets its run end, and passes its token on.

If anything in the file is wrong, nothing changes. The command then says what is wrong and
where, with exit code 78. Flags and environment variables stay as they were when the agent
started.`,
		Example: `  wanderd config check --config /etc/wanderd/wanderd.toml && wanderd reload`,
	}, func(ctx context.Context, client *control.Client) error {
		r, err := client.Reload(ctx)
		switch {
		case err != nil:
			return err
		case r.Problem != "":
			return cli.Exit(cli.ExitConfig, errors.New("nothing was reloaded: "+r.Problem))
		case len(r.Changed)+len(r.Restart) == 0:
			_, err = fmt.Fprintln(p.stdout, "nothing has changed")
			return err
		}
		list := func(name string, what []string) {
			for _, w := range what {
				_, _ = fmt.Fprintf(p.stdout, "%-13s  %s\n", name, printable(w))
			}
		}
		list("changed", r.Changed)
		list("waits", r.Waits)
		list("needs restart", r.Restart)
		return nil
	})
}

// rereading returns the function with which an agent that was started with the layers start reads its configuration
// again.
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
