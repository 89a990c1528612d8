package paper

// theft is the loss of the only token, in the model.
type theft struct {
	armed, done bool
	at          float64
}

// steals reports whether a token that is sent gets lost.
func (m *model) steals() bool {
	if !m.theft.armed || m.theft.done || m.tally.alive > 1 {
		return false
	}
	m.theft.done, m.theft.at = true, m.now
	m.live(-1)
	return true
}

// stabilisation loses the token of a fleet that has run for a while. It returns how long it took from then until there
// was exactly one token, for as long as quiet; negative if that was not within the limit.
func stabilisation(r reading, members int, seed uint64, quiet float64) float64 {
	m := newModel(r, members, seed)
	for m.next(settled.Seconds()) {
	}
	m.theft.armed = true
	for !m.theft.done {
		if !m.next(longRun.Seconds()) {
			return -1
		}
	}
	until := m.theft.at + stabilisationLimit.Seconds()
	tokens, made, since := m.tally.alive, m.tally.made, m.now
	for m.next(until) {
		// A token that is removed at the instant at which it is made counts as a change, too.
		if m.tally.alive == tokens && m.tally.made == made {
			continue
		}
		if tokens == 1 && m.now-since >= quiet {
			return since - m.theft.at
		}
		tokens, made, since = m.tally.alive, m.tally.made, m.now
	}
	if tokens == 1 && until-since >= quiet {
		return since - m.theft.at
	}
	return -1
}
