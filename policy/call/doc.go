// Package call is the soft gate whose token comes when it is called, and is silent at rest.
//
// At rest the token stays where it was last used, and no datagram is sent. A member that wants it asks one of its
// homes: guardians that keep a copy, know the holder, and queue the callers. A home is a lock server that any member
// can replace; the right to run is still the token. Members need no roster, and choose the homes by a hash, each from
// its own view.
//
//	caller                   home                     holder, at rest
//	  ── Call(wait, age) ──────▶  queues it
//	    ◀──── Queued(number) ──   ── Next(oldest) ──────▶
//	    ◀─────────────────────────────────── Token(h) ──
//	  ── Ack(h, n) ──────────────────────────────────────▶  gives the token up
//	    ◀───────────────────────────────── Commit(h, n) ──
//	  runs, and is the holder
//	  ── Heartbeat ─────────────────▶  forgets the wait
//	    ◀──────────── Heard ──    and releases the former holder: Heartbeat ──▶
//
// So a run costs two and a half round trips and some eleven datagrams, in a fleet of any size. While nobody waits,
// holder and homes are silent, and nobody is suspected. While somebody waits, the holder sends heartbeats, and its
// guardians revive the token if it does not.
//
// The rules have numbers, and are quoted above the code that obeys them:
//
//	call.go     the events; R14 changes, R16 spreading
//	wait.go     this member's own wait: R2
//	view.go     who is a home: R1
//	queue.go    who waits: R5
//	turns.go    who takes turns because it did not answer
//	home.go     what a home does: R3 answers callers, R4 hears from homes
//	report.go   R4 a home tells the holder who waits
//	search.go   looking for the token: R11
//	arrive.go   a token that comes; the announcement to the homes: R6
//	run.go      who is next (R7), a word before a run (R8), offers (R9)
//	guard.go    copies and numbers (R12), two tokens (R13), leaving
//	make.go     a first token, or one in place of a lost one: R15
//	custody.go  what is held, and what is done with it
//	keep.go     a grant that outlives its host
//	slots.go    several tokens: S1
//	plan.go     which of them this member calls: S2, S3
//
// When holder and guardians speak (R10) is in package guardian: see BeQuiet.
//
// Soft means: normally one member runs; overlaps are rare and short. Members that are cut off from each other may each
// have a token.
//
// Its decisions, in docs/decisions: 094, 095, 102.
package call
