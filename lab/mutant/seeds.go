package mutant

import "flag"

//nolint:gochecknoglobals // flags of tests
var (
	first = flag.Uint64("first", 1, "the first seed that is explored")
	most  = flag.Uint64("seeds", 0, "how many seeds are explored; 0 stands for what the test has for itself")
)

// Seeds returns the seeds that a test explores: the usual number of seeds from the first one on, and those that have
// found something; or those of the test's flags.
func Seeds(usual uint64, found ...uint64) []uint64 {
	var all []uint64
	if *most == 0 && *first == 1 {
		all = append(all, found...)
	}
	if *most > 0 {
		usual = *most
	}
	for seed := *first; seed < *first+usual; seed++ {
		all = append(all, seed)
	}
	return all
}
