// Package agent is the shell around the token protocols: sockets, timers, hook, state file, control socket.
//
// One goroutine, the loop, owns all gates. It passes events to the gates' machines and carries out their effects, in
// order. All other goroutines (the reader of the socket, the hook's watcher, the control socket's handlers, membership)
// only pass messages to the loop.
//
//	        reader ── parsed, not yet verified ─▶┐
//	    membership ── views ────────────────────▶│         ┌─▶ Send     codec, socket
//	         hooks ── results ──────────────────▶│  loop   ├─▶ Save     state directory
//	control socket ── questions ────────────────▶│ (gates) ├─▶ Run/Stop hook
//	    one timer ── the nearest deadline ──────▶│         ├─▶ Announce membership
//	                                             ┘         └─▶ Tell     log, counters
//
// Before a message reaches a machine it passes these checks, cheapest first: size, magic, seal, gate, addressee, sender
// in the gate, expected now, rate, signature. A datagram that fails a check gets no answer; it is counted by reason.
//
// Its decisions, in docs/decisions: 005, 008, 011, 012, 015, 037, 058, 059, 069, 077, 078, 081, 091.
package agent
