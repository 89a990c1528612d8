// Hook-guard guards an operation of wanderd, which starts it: see package hook. It is a program of its own because one
// starts with every hook and every command, and a small program starts in less than half the time of wanderd, and takes
// less memory. Where it is missing, or belongs to another build, wanderd does the same itself.
//
// It needs one processor, and so does not prepare to follow the limit of its control group.
//
//go:debug updatemaxprocs=0
package main

import (
	"fmt"
	"os"

	"github.com/wanderd/wanderd/agent/hook"
)

// Package hook guards, and does not return, before main begins.
func main() {
	fmt.Fprintf(os.Stderr, "%s is for internal use: wanderd starts it by this name\n", hook.GuardName)
	os.Exit(64)
}
