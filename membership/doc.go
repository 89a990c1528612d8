// Package membership turns memberlist's gossip into a sorted set of peers.
//
// It is the only importer of memberlist, and knows nothing of tokens beyond one bit per gate: "this member has met one".
// The agent owns the sockets: it hands gossip datagrams to [Membership.Deliver], lends a [PacketWriter] and [Streams], and
// reads immutable views from [Membership.Views]. What gossip says is a hint, never an authority: a view tells which key and
// address to try, and a message counts only if that key has signed it.
//
// # Identity
//
// A member is called <name>~<32 hexadecimal digits of its MemberID> in gossip, so two hosts of one name both work (and are
// warned about), and the key in its metadata must hash to that identity. Its metadata, at most 63 bytes:
//
//	 0        1                                  33          35
//	+--------+----------------------------------+-----------+-----------+--
//	| L vers | Ed25519 public key (32 bytes)    | tag     M | tag     M | ...
//	+--------+----------------------------------+-----------+-----------+--
//	  1 + 7                                       15 + 1 bits, big-endian
//
//	L     this member is leaving on purpose
//	vers  1
//	tag   the top 15 bits of a GateID the member takes part in; ascending, each once, at most [MaxGates] of them
//	M     it has met a token of that gate
//
// Two gates share a tag once in 32,768 times. The peer is then offered a token of a gate it does not have, and says
// nothing; one agent with two such gates is refused by [Start].
//
// # What memberlist v0.7.0 does, and what is done about it
//
//   - Its callbacks run under its node lock, with live *Node pointers: they copy into a coalescing mailbox, and one
//     goroutine of ours works on that (mailbox.go, roster.go). So does its log, which it writes under the same lock
//     (logadapter.go).
//   - It calls NotifyAlive for all members at every full sync: what was found is remembered by the bytes it was found for.
//   - It stores and passes on whatever metadata, address and version numbers others send, and one alive message without
//     version numbers makes every later sync fail: NotifyAlive refuses what does not parse before it gets in
//     (metadata.go). Our own metadata stays below the 512 bytes at which the sender panics.
//   - A member that has the gossip key can crash others: by a packet of encryption version 0 with bad padding, and by an
//     encrypted stream of nothing. Only version 1 passes, and no empty stream (sealed.go).
//   - It allocates for junk packets: a datagram is opened in a scratch buffer first, and only what opens is copied.
//   - It buffers 20 MiB of an unauthenticated stream: here it is 4 MiB, for so many connections at a time, each of which
//     must begin with our preamble and a plausible header within two seconds (streams.go).
//   - Compression costs 64 KiB of garbage for each packet sent and makes bombs possible; it is off.
//   - It joins itself if told to, resolves names by TCP first and only once, and reports failures obscurely: we resolve,
//     skip our own addresses, and explain (resolve.go, join.go).
//   - A split longer than GossipToTheDeadTime never heals by itself: members that were lost and the addresses to join are
//     tried again for as long as the agent runs (join.go). DeadNodeReclaimTime is set, or a member that comes back at
//     another address would never be taken in again.
//   - After mass joins views stay incomplete for minutes: who is new syncs a few times more in its first half minute, and
//     full syncs are twice as frequent as memberlist's default.
//   - Bound to all addresses it may advertise an address nobody can reach: the advertised address is always set (advertise.go).
//   - It never tells a member that left from one that failed, so a member that leaves says so in its metadata first. Nor
//     does it tell of suspicion, except in its log, where we read it.
//   - It gives up a probe without suspecting anybody if sending fails with an error that is not a *net.OpError: ours are.
//   - Leave panics after Shutdown, and UpdateNode races with itself: both are serialised here.
//   - Its gossip queue is last in, first out and drops: no token travels by gossip.
//
// Its own goroutines outlive Shutdown by as long as a probe or a connection under way takes, a few seconds at most.
package membership
