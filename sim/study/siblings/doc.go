// Package siblings repeats the evaluations of the papers on other token protocols: a token ring that outlives crashes (Arantes
// and Sopena, "Easily rendering token-ring algorithm fault tolerant": k-copies).
//
// page.go says what there is. Every experiment has a file of its own: ring_wk.go, the probabilities of package policy/kcopies/survival.
package siblings
