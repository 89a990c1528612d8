package study

// Grouped returns neighbours with the same key as one group.
func Grouped[E any, K comparable](all []E, key func(*E) K) [][]E {
	var groups [][]E
	for len(all) > 0 {
		n := 1
		for n < len(all) && key(&all[n]) == key(&all[0]) {
			n++
		}
		groups, all = append(groups, all[:n]), all[n:]
	}
	return groups
}
