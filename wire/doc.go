// Package wire is the wire format of wanderd: identities, the names and numbers of tokens, messages, and the datagrams
// that carry them, signed by their sender and sealed with the fleet secret. The package reads no clock, opens no
// socket, keeps no state between two datagrams, and knows no protocol: the protocols decide what a message is for, and
// what else it carries.
//
// # Datagrams
//
// Every datagram at an agent's UDP port begins with four bytes, the envelope. Numbers are big endian; offsets count
// bytes from the start of the datagram, or of the content.
//
//	0 +-----+-----+---------+-------+
//	  | 'w' | 'd' | version | class |              version 4
//	4 +-----+-----+---------+-------+----------+
//	  | class 1: gossip, memberlist's own bytes  ...
//	  | class 2: a message under the fleet's seal, below
//	  | class 3: a message in the clear, below
//	  +------------------------------------------+
//
// Class 3, in the clear, is 356 bytes long:
//
//	  4 +--------------------------+
//	    | content             288  |
//	292 +--------------------------+
//	    | extension            0…  |  added by a later version
//	    +--------------------------+
//	    | signature            64  |  always the last 64 bytes
//	    +--------------------------+
//
// Class 2, sealed, is 396 bytes long:
//
//	  4 +--------------------------+
//	    | nonce of the seal    24  |  the secret's mark, and 23 random bytes
//	 28 +--------------------------+ - - - - - -+
//	    | content             288  |            |
//	316 +--------------------------+            |
//	    | extension            0…  |            | encrypted
//	    +--------------------------+            |
//	    | signature            64  |            |
//	    +--------------------------+ - - - - - -+
//	    | tag of the seal      16  |
//	    +--------------------------+
//
// The content has the same layout for all kinds of message, so no answer is longer than its request:
//
//	  0 +--------------------------+
//	    | gate                  8  |  GateIDOf(name), GateIDIn(pattern, name)
//	  8 +--------------------------+
//	    | protocol              1  |  the number of the sender's protocol
//	  9 +--------------------------+
//	    | version               1  |  of that protocol
//	 10 +--------------------------+
//	    | kind                  1  |  the protocols' own numbers: see policy.Kinds
//	 11 +--------------------------+
//	    | slot                  1  |  which of the gate's tokens: 0 … 63
//	 12 +--------------------------+
//	    | from                 16  |  MemberIDOf(public key): never zero
//	 28 +--------------------------+
//	    | to                   16  |  never zero, never the sender
//	 44 +--------------------------+
//	    | exchange              8  |  the handoff, or the question
//	 52 +--------------------------+
//	    | nonce                 8  |  its meaning depends on the kind
//	 60 +--------------------------+
//	    | token: birth          8  |  nanoseconds of Unix time, 0 … 2⁶²
//	 68 +--------------------------+
//	    | token: generator     16  |  zero in messages that need not name it
//	 84 +--------------------------+
//	    | token: random         8  |
//	 92 +--------------------------+
//	    | token: seq            8  |  0 … 2⁶³-1
//	100 +--------------------------+
//	    | directive: stamp      8  |  milliseconds of Unix time at least; 0 if there has been no directive
//	108 +--------------------------+
//	    | directive: by        16  |
//	124 +--------------------------+
//	    | directive: until      8  |  nanoseconds of Unix time; 0 if the gate is not paused, 2⁶³-1 if for ever
//	132 +--------------------------+
//	    | failures: stamp       4  |
//	136 +--------------------------+
//	    | failures: hosts     8×4  |  the beginnings of their identities
//	168 +--------------------------+
//	    | failures: exits     8×1  |  1 … 255; empty places last, and zero
//	176 +--------------------------+
//	    | load                112  |  what else the message carries, in the protocol's own layout
//	288 +--------------------------+
//
// The layout of the loads is drawn in the protocols' packages: package guardian has the first 64 bytes of a guarded
// token's load, and the last one; packages wander and call have the rest of their tokens' loads.
//
// # Signature
//
// The signature covers everything from the gate to the last byte of the extension. It is made with Ed25519ph (RFC 8032,
// section 5.1) under the context "wanderd message v4". The context replaces magic and version: a signature for one
// version is invalid in another, and in any other use of the key. The class is not signed: it describes how a message
// travels, not its content.
//
// # Seal
//
// The seal encrypts everything from the gate to the end of the signature, with XChaCha20-Poly1305 under a key derived
// from the fleet secret. The nonce is random, except that its first byte is the mark of the secret. A fleet that
// changes its secret opens with two secrets. The envelope is the additional data. The seal makes datagrams of hosts
// without the secret cheap to refuse. It does not identify the sender, because every member has the secret: only the
// signature does.
//
// # Order of checks
//
// The cheapest check is first. Each has its own [Drop] reason, and a datagram that fails one never gets an answer:
// length, magic, version, class ([Classify]); seal, layout ([Codec.Open]). Then the agent checks: gate known, addressed
// to this member, the gate's protocol, the rules of its kind, sender in the gate, not an old offer, a message that the
// gate's machine expects now, sender within its rate. The signature is last ([Unverified.Verify]), because it costs
// some fifty times as much as all others together. A replayed datagram may pass all checks but the machine's own: the
// protocols detect replays by nonces and the identities of exchanges.
//
// Its decisions, in docs/decisions: 009, 076, 079, 088.
package wire
