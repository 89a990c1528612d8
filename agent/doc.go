// Package agent is the shell around the token protocols: sockets, timers, hook, state file, control socket.
//
// One goroutine, the loop, owns all gates. It hands events to the gates' machines and carries out their effects, in order.
// Everything else (the reader of the socket, the hook's watcher, the control socket's handlers, membership) only hands it
// something and goes on.
//
//	        reader ── parsed, not yet verified ─▶┐
//	    membership ── views ────────────────────▶│         ┌─▶ Send     codec, socket
//	         hooks ── results ──────────────────▶│  loop   ├─▶ Save     state directory
//	control socket ── questions ────────────────▶│ (gates) ├─▶ Run/Stop hook
//	    one timer ── the nearest deadline ──────▶│         ├─▶ Announce membership
//	                                             ┘         └─▶ Tell     log, counters
//
// What reaches a machine has passed, cheapest first: size, magic, seal, gate, addressee, sender known, expected now, rate,
// signature. Nothing at all is answered to a datagram that fails one of them; it is counted by reason.
package agent
