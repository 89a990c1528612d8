// Package gate is the shell of one gate: it carries out what the gate's machine says, and tells it what has happened.
//
// One goroutine, the loop of an agent, calls all methods of a [Gate], unless they say otherwise. Whatever takes long (a
// run, a save, a ready check) goes on beside the loop; when it has ended, the gate sends a completion to [Env.Ended],
// which the loop calls. So nothing here waits, and nothing is locked.
//
//	    Receive, Meet, Wake, Slept, Learn, … ─▶┐           ┌─▶ Fleet    the other members: send, announce, notify
//	Enqueue, RunNow, GiveDirective, Renew, … ─▶│  machine  ├─▶ Disk     save
//	         completions, by way of Env.Ended ─▶│           ├─▶ Start    run, stop, extend; the ready check
//	                                            └───────────┴─▶ Log, Observe, Runs, Commands
//
// All that a gate needs and does not own is in its [Env]; a test gives it one in memory (see bench_test.go).
//
// Its decisions, in docs/decisions: 007, 016, 041, 042, 054, 055, 061, 091, 096, 097.
package gate
