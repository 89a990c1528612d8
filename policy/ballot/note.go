package ballot

import "github.com/wanderd/wanderd/policy"

const (
	// NoteProposed: this member asks a majority to promise the epoch of Token.
	NoteProposed policy.Note = iota + 128
	// NoteWon: a majority has promised; this member has made Token.
	NoteWon
	// NoteWithdrew: too few have promised in time; this member has withdrawn the epoch of Token.
	NoteWithdrew
	// NoteNoMajority: no majority has renewed the lease of Token in time: nothing runs here until one does.
	NoteNoMajority
	// NoteEnded: Peer knows of a newer epoch; this member's Token is over.
	NoteEnded
	// NoteReleased: this member has discarded Token, and tells the others that its lease is over.
	NoteReleased
	// NoteNotSaved: a promise to Peer could not be saved, and was not given.
	NoteNotSaved
	// NoteOutsider: Peer is not in the roster.
	NoteOutsider
	// NoteOtherRoster: Peer has another roster; its messages do not count.
	NoteOtherRoster
	// NoteLeaseTooLong: Peer asks for a lease that is longer than this member allows.
	NoteLeaseTooLong
	// NoteLeaseRefused: this member asks for a lease that is longer than a majority allows; Peer is one that does not.
	NoteLeaseRefused
	// NoteClockRates: the clocks of this member and Peer run at rates that differ by more than a strict gate allows.
	NoteClockRates
	// NoteNoEpochs: there is no newer epoch.
	NoteNoEpochs
	// NoteEpochRefused: the epoch of Peer's message is impossible: a day ahead of this member's clock, or not Peer's to
	// propose.
	NoteEpochRefused
	// NoteStrayAnswer: an answer to a question that is not open any more.
	NoteStrayAnswer
)

// Notes returns the notes of a ballot.
func Notes() policy.Notes {
	return append(policy.KeptNotes(), policy.Notes{
		{
			Note: NoteProposed, Name: "proposed", Level: policy.Info,
			Text: "no holder answers; asking the roster for a new token", Repeats: true,
		},
		{Note: NoteWon, Name: "won", Level: policy.Info, Text: "a majority agrees; made a new token"},
		{
			Note: NoteWithdrew, Name: "withdrew", Level: policy.Info, Repeats: true,
			Facts: []policy.Key{policy.KeyMissing},
			Text:  "no majority agrees to a new token; trying again",
		},
		{
			Note: NoteNoMajority, Name: "no_majority", Level: policy.Warn, Repeats: true,
			Facts: []policy.Key{policy.KeyMissing},
			Text:  "no majority of the roster answers; nothing runs here until one does",
		},
		{Note: NoteEnded, Name: "ended", Level: policy.Warn, Text: "a newer token exists; dropped the one held here"},
		{
			Note: NoteReleased, Name: "released", Level: policy.Info,
			Text: "gave the gate up; the others need not wait for the lease",
		},
		{
			Note: NoteNotSaved, Name: "not_saved", Level: policy.Error,
			Text: "a promise could not be saved, and was not given", Repeats: true,
		},
		{
			Note: NoteOutsider, Name: "outsider", Level: policy.Warn,
			Text: "a member that is not in the roster does not count", Repeats: true,
		},
		{
			Note: NoteOtherRoster, Name: "other_roster", Level: policy.Warn, Repeats: true,
			Text: "a member has another roster, and does not count; configure the same names and keys on all members",
		},
		{
			Note: NoteLeaseTooLong, Name: "lease_too_long", Level: policy.Warn, Repeats: true,
			Text: "a member asks for a longer lease or keep than this one allows; configure the same on all members",
		},
		{
			Note: NoteLeaseRefused, Name: "lease_refused", Level: policy.Warn, Repeats: true,
			Facts: []policy.Key{policy.KeyMissing},
			Text: "a majority of the roster allows no such lease or keep, and nothing runs here; configure the same " +
				"on all members",
		},
		{
			Note: NoteClockRates, Name: "clock_rates", Level: policy.Error, Repeats: true,
			Facts: []policy.Key{policy.KeyClockRate},
			Text:  "the clocks of two members run at different rates; a strict gate is not safe between them",
		},
		{Note: NoteNoEpochs, Name: "no_epochs", Level: policy.Error, Text: "no number is left for a new token"},
		{
			Note: NoteEpochRefused, Name: "epoch_refused", Level: policy.Warn, Repeats: true,
			Text: "refused a number that cannot be by this host's clock; set the clocks of both hosts",
		},
		{Note: NoteStrayAnswer, Name: "stray_answer", Level: policy.Debug, Text: "ignored a late message"},
	}...)
}
