package main

import (
	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
)

// simulator is the program that carries out "wanderd plan" and "wanderd sim". Most hosts never use these, so they need
// not have it.
func simulator() cli.Other {
	return cli.Other{Name: "wandersim", Package: "github.com/wanderd/wanderd/cmd/wandersim", As: "wanderd"}
}

func newPlanCommand() *cobra.Command {
	return simulator().CarriesOut(&cobra.Command{
		Use:   "plan --members N --op DURATION --every DURATION",
		Short: "Predict the behaviour of a fleet, and choose its constants",
		Long: `Predict the behaviour of a fleet, and choose its constants. The program wandersim does that:
see wandersim-plan(1). "wanderd plan" starts it, from beside wanderd or from PATH, with the
same arguments.`,
	}, "plan")
}

func newSimCommand() *cobra.Command {
	return simulator().CarriesOut(&cobra.Command{
		Use:   "sim [COMMAND] [flags]",
		Short: "Simulate a fleet with faults",
		Long: `Simulate a fleet with faults. The program wandersim does that: see wandersim-sim(1).
"wanderd sim" starts it, from beside wanderd or from PATH, with the same arguments.`,
	}, "sim")
}
