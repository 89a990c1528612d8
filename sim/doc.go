// Package sim is the simulator's kernel: it runs the machines of a protocol, unchanged, in virtual time, with
// everything that can go wrong between them. Whole fleets live on one goroutine, thousands of times faster than in real
// time. A run is a pure function of its seed. The kernel never imports a protocol, never judges a run, and never prints
// one.
//
// # The world
//
// A [Cluster] is the world at one moment. Each of its members is a machine, the shell around it (which carries out
// effects in order, keeps what was saved, and owns one alarm) and the host around the shell (which crashes, pauses,
// sleeps, has a wall clock of its own and runs the hook). Between them are a network and a membership. Nothing in the
// world is shared with the agent: two shells that were written twice find each other's mistakes.
//
// # Other rooms
//
// Package check has the rules that hold for every protocol, tell writes runs as stories, measure counts. None of them
// imports a protocol. The packages under fleet know one each: they draw its scenarios, and have the rules that are its
// own.
//
// # Decisions
//
// Monotonic time is the true one, for all members, unless a world gives hosts clocks of other rates ([Clock]): rules
// that rest on leases need that. What an agent converts across a restart is the agent's business.
//
// Whatever is to happen at one moment happens in the order in which it was asked for. Nothing ranges over a map where
// order could show. Machines, network, hooks, membership and faults draw from sources of their own, so that one more
// fault does not change everything else; the sources are not cryptographic, and a run is reproduced by its seed alone.
//
// A member's number is in the last bytes of its identity, so that finding a message's addressee costs nothing, and the
// first bytes are a hash, so that ranks look as they do among hosts. In scripts ranks follow the names instead.
//
// An alarm that moves is moved, not abandoned; messages live in a slab; events and effects reuse one buffer. A step in
// the common case allocates nothing. A member has nothing that can be shared: each of 100,000 takes less than 3.5 KiB,
// machine included.
//
// The membership knows nothing by itself: a change is noticed after a delay, becomes the belief of a side of the
// network, and reaches each member of that side a little later. All members of a side share one slice, which is never
// changed. A member that the others take for dead keeps the view it had.
//
// A [Watcher] is told of every [Occurrence]: what a machine was given, what it did, what became of a message. One that
// has an error ends the run: a rule was broken. What is watched never depends on who watches.
//
// # Limits
//
// Messages are encoded and parsed, but not signed or sealed: the adversary repeats and cannot forge because it is
// written so. A pause holds back the news of a run's end, not the run itself. Members are not slow in any other way
// than by being paused.
//
// Its decisions, in docs/decisions: 049, 086.
package sim
