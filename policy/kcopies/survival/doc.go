// Package survival computes the probability that a token with k copies outlives crashes: section 4 of Arantes and
// Sopena, "Easily rendering token-ring algorithm fault tolerant" (k-copies), in exact whole numbers.
//
// The holder and its k successors in the ring have the token, so it is lost if k + 1 members in a row are dead. There
// are two such losses. They differ by orders of magnitude:
//
//	eventually   f members crash and stay dead, the token walks on, and meets more than k dead in a row, wherever they
//	             are: 1 − P_k(f, N). This is the paper's. It grows with the ring
//	at once      f members crash in one moment, and the holder and its k successors are all among them. While k is
//	             far below f it hardly depends on the size of the ring
//
//	N = 100, f = 50, k = 8:   eventually 0.0715, at once 0.0013
//
// Files: ring.go (the probabilities, and the least k for a target), arrangements.go (W_k(f, N), fast), enumerated.go
// (the same as the paper counts it), listed.go (the same, one by one). The package knows no token and no message.
package survival
