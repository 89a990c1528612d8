package settings

// Nearest returns the candidate that is most likely meant by a word with a typing error, and of several the first. It
// returns "" if all are too far away for a guess.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		// A word that shares nothing with its candidate is no typing error, however short both are.
		if d := distance(word, c); d < bestDistance && d < max(len(word), len(c)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace, and the neighbours to swap, to turn a into b.
func distance(a, b string) int {
	// before, above and row are three rows of the table of distances between the prefixes of a and those of b.
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// DidYouMean completes a message about an unknown word, with the candidate that is most likely meant, or with
// otherwise.
func DidYouMean(word string, candidates []string, otherwise string) string {
	if near := Nearest(word, candidates); near != "" {
		return "did you mean \"" + near + "\"?"
	}
	return otherwise
}
