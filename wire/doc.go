// Package wire is the wire format of wanderd: identities, tokens, the messages of handoffs and guardians, and the datagrams that
// carry them, signed by their sender and sealed with the fleet secret. It reads no clock, opens no socket and keeps no state
// between two datagrams. The protocols decide which member may send which message, and when.
//
// # Datagrams
//
// Every datagram at an agent's UDP port begins with four bytes, the envelope. Numbers are big endian; offsets count bytes from the
// start of the datagram, or of the content.
//
//	0 +-----+-----+---------+-------+
//	  | 'w' | 'd' | version | class |              version 2
//	4 +-----+-----+---------+-------+----------+
//	  | class 1: gossip, memberlist's own bytes  ...
//	  | class 2: a message under the fleet's seal, below
//	  | class 3: a message in the clear, below
//	  +------------------------------------------+
//
// Class 3, in the clear, is 275 bytes long:
//
//	  4 +--------------------------+
//	    | content             207  |
//	211 +--------------------------+
//	    | extension            0…  |  added by a later version
//	    +--------------------------+
//	    | signature            64  |  always the last 64 bytes
//	    +--------------------------+
//
// Class 2, sealed, is 315 bytes long:
//
//	  4 +--------------------------+
//	    | nonce of the seal    24  |
//	 28 +--------------------------+ - - - - - -+
//	    | content             207  |            |
//	235 +--------------------------+            |
//	    | extension            0…  |            | encrypted
//	    +--------------------------+            |
//	    | signature            64  |            |
//	    +--------------------------+ - - - - - -+
//	    | tag of the seal      16  |
//	    +--------------------------+
//
// The content has the same layout for all kinds of message, so no answer is longer than its request:
//
//	 0 +--------------------------+
//	   | gate                  8  |  GateIDOf(name)
//	 8 +--------------------------+
//	   | slot                  1  |  which of the gate's tokens, from 0
//	 9 +--------------------------+
//	   | last slot             1  |  0 … 15; never below the slot
//	10 +--------------------------+
//	   | kind                  1  |  1 Token, 2 Ack, 3 Commit, 4 Beat, 5 Ask, 6 Heard, 7 Known, 8 Buried, 9 Inquiry, 10 Seen, 11 Yield
//	11 +--------------------------+
//	   | from                 16  |  MemberIDOf(public key): never zero
//	27 +--------------------------+
//	   | to                   16  |  never zero, never the sender
//	43 +--------------------------+
//	   | handoff               8  |  or question: never zero in Ask, Heard, Inquiry and Seen
//	51 +--------------------------+
//	   | nonce                 8  |  never zero in Ack, Commit, Beat, Heard and Seen; zero in the others
//	59 +--------------------------+
//	   | token: birth          8  |  nanoseconds of Unix time, 0 … 2⁶²; all of the token is zero in an Inquiry
//	67 +--------------------------+
//	   | token: generator     16  |  zero in Ack and Commit, never in the others
//	83 +--------------------------+
//	   | token: random         8  |
//	91 +--------------------------+
//	   | token: seq            8  |  1 … 2⁶³-1
//	99 +--------------------------+
//	   | route: lap            4  |  this and the rest are zero in Ack and Commit
//	103+--------------------------+
//	   | route: cursor         8  |
//	111+--------------------------+
//	   | route: hints      4 × 4  |  missed members: the beginnings of their identities
//	127+--------------------------+
//	   | route: tries      4 × 1  |  0 … 4; empty places last, and zero
//	131+--------------------------+
//	   | trail            4 × 16  |  the guardians by rank; empty places last, nobody twice;
//	   |                          |  in a Seen, members that may have heard of the token since
//	195+--------------------------+
//	   | op                    4  |  milliseconds; 0 if unknown
//	199+--------------------------+
//	   | age                   8  |  nanoseconds, 0 … 2⁶²
//	207+--------------------------+
//
// # Signature
//
// Everything from the gate to the last byte of the extension, with Ed25519ph (RFC 8032, section 5.1) under the context
// "wanderd message v2". The context replaces magic and version: a signature for one version is invalid in another, and in any other
// use of the key. The class is not signed: it describes how a message travels, not its content.
//
// # Seal
//
// Everything from the gate to the end of the signature, with XChaCha20-Poly1305 under a key derived from the fleet secret
// and a random nonce; the envelope is its additional data. The seal makes datagrams of strangers cheap to refuse. It does not identify
// the sender, because every member has the secret: only the signature does.
//
// # Order of checks
//
// The cheapest check is first. Each has its own [Drop] reason, and a datagram that fails one never gets an answer:
// length, magic, version, class ([Classify]); seal, layout ([Codec.Open]); then by the agent: gate known, addressed to
// this member, the rules of its kind, sender known, sender within its rate, a message that the gate's machine expects now; and last
// the signature ([Unverified.Verify]), because it costs some fifty times all others together. A replayed datagram passes all checks
// but the machine's own: the protocols detect replays by nonces and handoff identities.
package wire
