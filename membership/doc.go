// Package membership turns memberlist's gossip into a sorted set of peers.
//
// It is the only importer of memberlist, and knows nothing of tokens beyond one bit per gate: "this member has met
// one". The agent owns the sockets: it hands gossip datagrams to [Membership.Deliver], sends them for it, provides
// [Streams], and reads immutable views from [Membership.Views]. Gossip is a hint, never an authority: a view tells
// which key and address to try, and a message counts only if that key has signed it.
//
// # Identity
//
// A member's node name in gossip is <name>~<32 hexadecimal digits of its MemberID>. So two hosts with one name both
// work, and a warning reports them. A member signs what it announces: its node name, its address and its metadata, at
// most 135 bytes. The key there must hash to its identity. An announcement without a signature of that key, or with a
// lower counter than one before, is ignored:
//
//	 0        1                33        41          43
//	+--------+----------------+---------+-----------+-- ... --+----------------+
//	| L vers | public key  32 | counter | tag     M | tag   M | signature   64 |
//	+--------+----------------+---------+-----------+-- ... --+----------------+
//	  1 + 7    Ed25519                    15 + 1 bits, big-endian
//
// In version 3, what the member declares of the gate follows each tag, 8 bytes: the hash of its roster, or the protocol
// of a gate without one; zero is nothing. That makes 255 bytes at most.
//
//	L     this member is leaving on purpose
//	vers  2
//	counter  rises with every change; the time in milliseconds, or more if a former life had more
//	tag   the top 15 bits of a GateID the member takes part in; ascending, each once, at most [identity.MaxGates]
//	M     it has met a token of that gate
//
// Two gates share a tag with probability 1 in 32,768. A peer is then offered a token of a gate it does not have, and
// does not answer; [Start] refuses two such gates in one agent.
//
// # Rooms
//
// Each room imports only those above it:
//
//	identity     names, signatures, and who may judge a key
//	timing       signals, pauses, and the throttle of warnings
//	broadcast    directives to a gate, signed, and which one replaces which
//	packets      the packet filter, and what memberlist's messages say
//	peers        the members: announcements, views, joining, and duplicate identities
//	admission    which members may take part where keys have to be trusted, and whose certificates are missing
//	streams      connections: proof, seal, frames, and who gets a place
//
// This package wires them to memberlist and to the agent.
//
// # Problems of memberlist v0.7.0, and the remedies here
//
// After each problem, a colon and the remedy follow.
//
//   - It runs its callbacks under its node lock, with live *Node pointers: the callbacks copy into a coalescing
//     mailbox, which one goroutine of ours reads (mailbox.go, peers/peers.go). It also writes its log under that lock:
//     the log has a queue, too (logadapter.go).
//   - It calls NotifyAlive for all members at every full sync: the result of a check is cached, together with the
//     bytes that were checked.
//   - It passes news on at its ticks, and ticks even without news: here ticks are few, and pings carry the news
//     (spread.go).
//   - The less it hears, the less it probes, so a member that was cut off learns late what it has missed: here such a
//     member pings the others (reconnect.go).
//   - It believes any statement that a member left, moved, or has the highest incarnation of all, which the member
//     then cannot contradict: announcements are signed (peers/metadata.go), and an incarnation is believed only as far
//     as a clock can explain it (packets/filter.go).
//   - It believes every sender of a packet or a sync: both are signed, and are checked where keys have to be trusted
//     (admission/introduce.go, admission/admission.go).
//   - It forgets a member that NotifyAlive refuses: while a member's certificate is missing, the statements about the
//     member are kept (admission/unverified.go, certificates.go, meet.go).
//   - It stores and passes on any metadata, address and version numbers that others send, and one alive message
//     without version numbers makes every later sync fail: NotifyAlive refuses a node that does not parse
//     (peers/metadata.go). Our own metadata stays below the 512 bytes at which the sender panics.
//   - Its encryption crashes if a packet has bad padding or a stream is empty, buffers 20 MiB of an unauthenticated
//     stream, and lets streams be played back: so it gets no key, and packets and streams are sealed and opened here
//     (streams/sealed.go, streams/streams.go).
//   - It believes the lengths in a header before the bytes are there (a header can cost gigabytes), and logs and keeps
//     names of any length: what it sees has passed a filter (packets/filter.go).
//   - It answers a ping to any address that the ping names, with gossip on top: without a secret, an answer goes to
//     the ping's source, and is no longer than the ping (packets/answers.go).
//   - It allocates for junk packets: a datagram is opened in a scratch buffer first, and copied only if it passes.
//   - Compression costs 64 KiB of garbage for each packet sent and makes decompression bombs possible; it is off, and
//     refused.
//   - It joins itself if told to, resolves names by TCP first and only once, and its errors are obscure: we resolve
//     names, skip our own addresses, and explain the errors (peers/resolve.go, peers/join.go).
//   - A split longer than GossipToTheDeadTime never heals by itself: lost members and the addresses to join are tried
//     again for as long as the agent runs (peers/join.go). Without DeadNodeReclaimTime it would refuse a member that
//     comes back at another address for ever, so that is set.
//   - After mass joins views stay incomplete for minutes: a newcomer syncs a few times more in its first half minute,
//     and full syncs are twice as frequent as memberlist's default.
//   - Bound to all addresses it may advertise an unreachable address: the advertised address is always set
//     (peers/advertise.go).
//   - It does not distinguish a member that left from one that failed: a leaving member announces in its metadata that
//     it leaves (leave.go). It reports suspicion only in its log: the log is parsed.
//   - If sending fails with an error that is not a *net.OpError, it gives up the probe and suspects no member: all our
//     errors are *net.OpError.
//   - Leave panics after Shutdown, and UpdateNode races with itself: both are serialised here.
//   - Its gossip queue is last in, first out and drops messages: no token travels by gossip.
//
// Its own goroutines outlive Shutdown until the current probe or connection ends: a few seconds at most.
//
// Its decisions, in docs/decisions: 015, 036, 067, 068, 069, 070, 071, 072, 073, 074, 079, 088.
package membership
