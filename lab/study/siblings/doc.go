// Package siblings repeats the evaluations of the papers on other token protocols: a token ring that outlives crashes
// (Arantes and Sopena, "Easily rendering token-ring algorithm fault tolerant": k-copies).
//
// page.md.tmpl describes the experiments in words. The files:
//
//	ring_requests.go    what a request costs (Feuerstein and others, "Efficient token-based control in rings": Q
//	                    and D)
//	ring_wk.go          the probabilities of package policy/kcopies/survival
//	ring_resilience.go  the same probabilities, in runs
//	ring_transpeer.go   TranspeerToken and the directory that it replaces
//	ring_beyond.go      the sets of a token that does not go round a ring
//	tree_figures.go     the figures of Sopena, Arantes and Sens ("Performance evaluation of a fair fault-tolerant
//	                    mutual exclusion algorithm": fair tree); tree.go has what their runs share
package siblings
