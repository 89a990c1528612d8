package policy

// Family is what shells and simulator know of a protocol besides its machines.
type Family struct {
	// Name is the one that operators use. Version rises when a member of before would misread what one of now saves.
	Name    string
	Version uint8
	// Notes are all that its machines tell, their parts' among them.
	Notes Notes
	// Doubt drops from a state that was read from disk what cannot be by a clock that reads wall, and says why; nothing if all can be.
	Doubt func(wall int64, s *State) (why string)
}
