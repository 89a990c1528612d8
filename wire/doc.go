// Package wire is the bytes of wanderd: identities, tokens, the messages of handoffs and guardians, and the datagrams that
// carry them, signed by their sender and sealed with the fleet secret. It reads no clock, opens no socket and keeps no state
// between two datagrams; who may send what, and when, is decided elsewhere.
//
// # Datagrams
//
// Everything that arrives at an agent's one UDP port starts with the same four bytes, the envelope. Numbers are big
// endian; an offset counts bytes from the start of the datagram, or of the content.
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
//	    | extension            0…  |  what a later version may add
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
// The content is the same for all kinds of message, so no answer is longer than what it answers:
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
//	   | route: lap            4  |  all that follows is zero in Ack and Commit
//	103+--------------------------+
//	   | route: cursor         8  |
//	111+--------------------------+
//	   | route: hints      4 × 4  |  who was missed: the beginning of an identity
//	127+--------------------------+
//	   | route: tries      4 × 1  |  0 … 4; empty places last, and zero
//	131+--------------------------+
//	   | trail            4 × 16  |  the guardians by rank; empty places last, nobody twice;
//	   |                          |  in a Seen, members that may have had word of the token since
//	195+--------------------------+
//	   | op                    4  |  milliseconds; 0 if nobody has measured
//	199+--------------------------+
//	   | age                   8  |  nanoseconds, 0 … 2⁶²
//	207+--------------------------+
//
// # What is signed
//
// Everything from the gate to the last byte of the extension, with Ed25519ph (RFC 8032, section 5.1) under the context
// "wanderd message v2". The context stands for magic and version: a signature made for one version means nothing in
// another, nor in any other use of the key. The class is not signed: it says how a message travels, not what it says.
//
// # What is sealed
//
// Everything from the gate to the end of the signature, with XChaCha20-Poly1305 under a key derived from the fleet secret
// and a random nonce; the envelope is authenticated with it. The seal keeps strangers out and cheap to refuse. It does
// not say who speaks: every member has the secret, and only the signature tells them apart.
//
// # Order of checks
//
// The cheapest first. Each has its own [Drop] reason, and nothing is ever answered to a datagram that fails one:
// length, magic, version, class ([Classify]); seal, layout ([Codec.Open]); then by the agent: gate known, addressed to
// this member, sender known, sender within its rate, a message the gate's machine expects now; and last, because it costs
// some fifty times all of the others together, the signature ([Unverified.Verify]). A replayed datagram passes all but the
// machine's own checks: nonces and handoff identities are the answer to those, and not this package's business.
package wire
