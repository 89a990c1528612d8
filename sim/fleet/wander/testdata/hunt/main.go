// Hunt is a hunt on one core and nothing else, so that it is quickly built with a mutant in it: see mutants_test.go. It
// prints the least of so many seeds that breaks a rule, and which rule. With a second argument one member lies in each.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/wanderd/wanderd/sim/hunt"
)

func main() {
	seeds, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	o := hunt.Options{Seeds: seeds, Workers: 1}
	if len(os.Args) > 2 {
		o.Family = hunt.Liar()
	}
	if r := hunt.Run(context.Background(), o); r.Failure != nil {
		fmt.Printf("%d %v\n", r.Failure.Seed, r.Failure.Err)
	}
}
