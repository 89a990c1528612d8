package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/web"
)

func (p *program) newWebCommand() *cobra.Command {
	listen := ""
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Show the fleet as a page in a browser",
		Long: `Show the fleet as a page in a browser: a ring of members with the token as it goes round,
who runs now, the runs of the last day by host, and what failed, with its output. The page
can pause and resume a gate on all hosts, as "wanderd pause" does.

This command serves the page until a signal ends it; the agent does not. Open the address
that it prints. The address contains a password, without which nobody sees anything. The
members are asked only while a page is open.

The page is served on the loopback interface only. From another host, use ssh:
ssh -L 8946:127.0.0.1:8946 HOST wanderd web

It uses the agent's control socket: run it as the agent's user, or as root.`,
		Example: `  wanderd web
  wanderd web --listen 127.0.0.1:9000`,
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8946", "The `address` of the page; port 0 chooses a free one.")
	return p.asking(cmd, func(ctx context.Context, c *control.Client) error { return p.web(ctx, c, listen) })
}

func (p *program) web(ctx context.Context, c *control.Client, listen string) error {
	if _, err := c.Status(ctx); err != nil { // if there is no agent, the error comes at once
		return err
	}
	server, err := web.Listen(listen, c)
	if err != nil {
		return cli.UsageError(err)
	}
	if _, err := fmt.Fprintf(p.stdout, "open %s\n", server.URL()); err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal(ctx, "wanderd", nil)
	defer stop()
	return server.Serve(ctx)
}
