package control_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wanderd/wanderd/agent/control"
)

// A program asks the agent on its host who holds the tokens.
func ExampleClient() {
	client := control.Dial(filepath.Join("testdata", "no-agent.sock"))
	status, err := client.Status(context.Background())
	if errors.Is(err, control.ErrNoAgent) {
		fmt.Println("no agent answers on this host")
		return
	}
	for _, g := range status.Gates {
		fmt.Println(g.Name, g.Holder, g.NextRun)
	}
	// Output: no agent answers on this host
}
