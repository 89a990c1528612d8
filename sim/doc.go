// Package sim is the simulator's kernel: it runs the machines of a protocol, unchanged, in virtual time, and simulates
// everything that can go wrong between them. Whole fleets run on one goroutine, thousands of times faster than in real
// time. A run is a pure function of its seed. The kernel never imports a protocol, never judges a run, and never prints
// one.
//
// # The world
//
// A [Cluster] is the world at one moment. Each of its members is a machine, the shell around it (which carries out
// effects in order, keeps what was saved, and owns one alarm) and the host around the shell (which crashes, pauses,
// sleeps, has a wall clock of its own and runs the hook). Between them are a network and a membership. The
// world shares no code with the agent: two shells that were written independently reveal each other's mistakes.
//
// # Other rooms
//
// Package check has the rules that hold for every protocol, trace writes runs as text, measure counts. None of them
// imports a protocol. The packages under fleet know one protocol each: they draw its scenarios, and have the rules that
// hold for it alone.
//
// # Decisions
//
// Monotonic time is true time, for all members, unless a world gives hosts clocks of other rates ([Clock]): rules that
// rest on leases need that. How an agent converts times across a restart is not simulated.
//
// Events at one moment happen in the order in which they were requested. Nothing ranges over a map where the order
// could show. Machines, network, hooks, membership and faults draw from sources of their own, so that one more
// fault does not change everything else; the sources are not cryptographic, and a run is reproduced by its seed alone.
//
// A member's number is in the last bytes of its identity, so that finding a message's addressee costs nothing. The
// first bytes are a hash, so that ranks look as they do among hosts. In scripts, ranks follow the names instead.
//
// When a deadline changes, its alarm is moved, not abandoned; messages live in a slab; events and effects reuse one
// buffer. In the common case a step allocates nothing. Whatever members can share is not kept in each of them: each of
// 100,000 takes less than 3.5 KiB, machine included.
//
// The membership knows nothing by itself: a change is noticed after a delay, becomes the belief of a side of the
// network, and reaches each member of that side a little later. All members of a side share one slice, which is never
// changed. A member that the others take for dead keeps the view it had.
//
// A [Watcher] is called for every [Occurrence]: what a machine was given, what it did, what became of a message. If it
// returns an error, a rule was broken, and the run ends. A run never depends on its watchers.
//
// # Limits
//
// Messages are encoded and parsed, but not signed or sealed: the adversary only replays and cannot forge, because it is
// written so. A pause holds back the news of a run's end, not the run itself. Members are not slow in any other way
// than by being paused.
//
// Its decisions, in docs/decisions: 049, 086.
package sim
