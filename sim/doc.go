// Package sim runs the machines of package policy, unchanged, in virtual time: whole fleets on one goroutine, thousands of
// times faster than they live, with everything that can go wrong between them. A run is a pure function of its seed.
//
// # The world
//
// A [Cluster] is the world at one moment. Each of its members is a machine, the shell around it (which carries out effects in
// order, keeps what was saved, and owns one alarm) and the host around the shell (which crashes, pauses, sleeps, has a wall
// clock of its own and runs the hook). Between them are a network and a membership. Nothing in the world is shared with the
// agent: two shells that were written twice find each other's mistakes.
//
//	cluster.go     the world, its loop, and what a step is
//	heap.go        what will happen: a 4-ary heap of values, by time and then by who asked first
//	alarms.go      when each machine wants to be woken: one place a member, moved when the deadline moves
//	lifecycle.go   start, crash (also between two effects of a step), leave, pause, sleep
//	network.go     latency, loss, duplication, lateness, broken pairs, partitions, what a script decides
//	adversary.go   somebody who records handoffs, and what holders and guardians say, and plays it again
//	views.go       the membership: how late, and how differently, members learn of each other
//	clock.go       wall clocks with skew and drift
//	demand.go      somebody waits for a run, and perhaps no longer
//	hook.go        runs that vary, fail, hang, and outlive being stopped
//	faults.go      all of this going wrong at random times, and its repair
//
// # Decisions
//
// Time is one monotonic clock for all; only wall clocks differ. No rule compares monotonic times of two members, and what an
// agent converts across a restart is the agent's business.
//
// Whatever is to happen at one moment happens in the order in which it was asked for. Nothing ranges over a map where order
// could show. Machines, network, hooks, membership and faults draw from sources of their own, so that one more fault does not
// change everything else; the sources are not cryptographic, and a run is reproduced by its seed alone.
//
// A member's number is in the last bytes of its identity, so that finding a message's addressee costs nothing, and the first
// bytes are a hash, so that ranks look as they do among hosts. In scripts ranks follow the names instead.
//
// An alarm that moves is moved, not abandoned; messages live in a slab; events and effects reuse one buffer. A step in the
// common case allocates nothing, and a test says so. All machines of a [Scenario] lie in one piece of memory, and a member has
// nothing that can be shared: each of 100,000 takes less than 3.5 KiB, machine included, and another test says that.
//
// The membership knows nothing by itself: a change is noticed after a delay, becomes the belief of a side of the network, and
// reaches each member of that side a little later. All members of a side share one slice, which is never changed. A member
// that the others take for dead keeps the view it had.
//
// # Watching
//
// A [Watcher] is told of every [Occurrence]: what a machine was given, what it did, what became of a message. Checkers are
// watchers that may object, and they are always on. Each holds one rule and has a file of its own: check_handoff.go (no token
// is held twice), check_custody.go (none comes from nowhere or vanishes without a reason), check_seq.go (fencing numbers rise),
// check_grant.go (no run without a grant that was saved), check_interval.go (Δmin), check_removal.go (the older token survives),
// check_birth.go (a new token is younger than those before it), check_guard.go (a token is revived by who has asked, and no
// removed one is), check_inquiry.go (none is made without asking either), check_message.go and check_wake.go (the contract of
// package policy), check_demand.go (on demand nobody runs unasked, and no
// demand is forgotten), check_liveness.go (a healed cluster makes progress). They judge by effects, messages and [policy.Machine]'s
// Status, never by a machine's insides. A [Trace] writes a run as a story, a [Diagram] draws it, a [Coverage] counts what has
// ever occurred, a [Concurrency] measures overlap, which a soft gate may have.
//
// A revived token has the identity of the lost one, which may turn up again. What must never be in two places is a copy:
// copies.go follows each from hand to hand, from when it was made or revived, and tells which of them a member holds.
//
// # Measuring
//
// [Scenario.Measure] lets a fleet live for a given time, faults and all, with nobody watching but who measures; package measure
// has the figures, package paper the published ones. [Scenario.Impossible] names the parameters that cannot be.
//
// # Finding bugs
//
// [Draw] lets a seed draw every parameter of a [Scenario], also which kinds of faults there are. [Scenario.Explore] runs it in
// two phases: first things go wrong, then all is healed and the cluster has to make progress within a bound. Package hunt does
// so for any number of seeds on all cores, and shows a failing one with its parameters, the end of its story, and how to replay
// it; `go test ./sim` does it for some thousand.
//
// The same package's tests explore small worlds to the end (explore_test.go), tell one story for each situation worth knowing
// (script_test.go, testdata), and make sure that known-bad variants of the protocol are caught (mutants_test.go,
// testdata/mutants, docs/mutants.md). [Stories] are those that the README shows.
//
// # Limits
//
// Messages are encoded and parsed, but not signed or sealed: the adversary repeats and cannot forge because it is written so.
// A member's disk never fails and never forgets. A pause holds back the news of a run's end, not the run itself. Members are not
// slow in any other way than by being paused.
package sim
