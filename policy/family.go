package policy

// Family is what shells and simulator know of a protocol besides its machines.
type Family struct {
	// Name is the one that operators use.
	Name string
	// Notes are all that its machines tell, their parts' among them.
	Notes Notes
}
