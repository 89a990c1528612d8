package ballot

import (
	"github.com/wanderd/wanderd/policy/marks"
)

// The rare branches: what each says is in [Marks].
const (
	markOutsider marks.Mark = iota + 96
	markOtherRoster
	markUnbelieved
	markStrayAnswer
	markUnkeptUnanswered
	markUnkeepUnsaved
	markProbes
	markShort
	markContested
	markOutbid
	markEnded
	markLapsed
	markLapsedContested
	markNoEpochs
	markEpochAhead
	markWon
	markAsks
	markWithdraws
	markBlocked
	markAlone
	markHearsAgain
	markProbed
	markClaimDecided
	markRefusedUnbelieved
	markBusy
	markRefusedByMost
	markHastens
	markTooLong
	markOverlong
	markWrongProposer
	markRefuses
	markSupportWaits
	markOwnWaits
	markNotSaved
	markUnkeepSaved
	markClaimOfAnother
	markRefusesToken
	markReleaseWaits
	markReleaseSaved
	markReleasedUnused
	markReleasedMeanwhile
	markClockRates
	markStayedAway
	markResumed
	markMayBeKept
	markUnkeeps
	markUnkeepFailed
	markClaimUnrecorded
	markClaimStands
	markClaimRefused
	markSoaks
	markSoakEarly
	markSoakHeard
	markForgotten
	markStartsKept
)

// Marks returns the rare branches of a ballot.
func Marks() marks.Names {
	return marks.Names{
		markOutsider:          "ballot: a message comes from outside the roster",
		markOtherRoster:       "ballot: a member has another roster",
		markUnbelieved:        "ballot: an epoch is not believed",
		markStrayAnswer:       "ballot: an answer comes to no question",
		markUnkeptUnanswered:  "ballot: not all have answered the end of a kept lease",
		markUnkeepUnsaved:     "ballot: the end of a kept lease is not saved yet",
		markProbes:            "ballot: too few have answered a renewal",
		markShort:             "ballot: the lease is too short for a run",
		markContested:         "ballot: another member has promised a newer epoch while the lease runs",
		markOutbid:            "ballot: an offer is refused for a newer epoch",
		markEnded:             "ballot: a token is over",
		markLapsed:            "ballot: the lease runs out while it is needed",
		markLapsedContested:   "ballot: the lease of a contested token runs out",
		markNoEpochs:          "ballot: there is no epoch left",
		markEpochAhead:        "ballot: the next epoch is ahead of the clock",
		markWon:               "ballot: a proposal wins",
		markAsks:              "ballot: a proposer asks the others",
		markWithdraws:         "ballot: a proposer withdraws",
		markBlocked:           "ballot: leases have blocked a proposal",
		markAlone:             "ballot: a proposer hears nobody",
		markHearsAgain:        "ballot: a proposer hears somebody again",
		markProbed:            "ballot: a majority has answered a probe",
		markClaimDecided:      "ballot: a claim is decided after its round",
		markRefusedUnbelieved: "ballot: a refusal names an epoch that is not believed",
		markBusy:              "ballot: a supporter is busy",
		markRefusedByMost:     "ballot: too many refuse a proposal",
		markHastens:           "ballot: a blocked proposal ends early",
		markTooLong:           "ballot: a lease or a claim is longer than this member may promise",
		markOverlong:          "ballot: a majority allows no lease as long as this member's",
		markWrongProposer:     "ballot: an epoch belongs to another member",
		markRefuses:           "ballot: a question is refused",
		markSupportWaits:      "ballot: an answer waits for a save",
		markOwnWaits:          "ballot: a member waits for its own save",
		markNotSaved:          "ballot: a promise is not saved",
		markUnkeepSaved:       "ballot: the end of a kept lease is saved, or that has failed",
		markClaimOfAnother:    "ballot: a member supports the claim of another one",
		markRefusesToken:      "ballot: a token of an old epoch is refused",
		markReleaseWaits:      "ballot: a release waits for a save",
		markReleaseSaved:      "ballot: a release has waited for a save",
		markReleasedUnused:    "ballot: an epoch is released that nobody had, or that was awaited",
		markReleasedMeanwhile: "ballot: the epoch that blocks an attempt is released while it goes on",
		markClockRates:        "ballot: a clock runs at another rate",
		markStayedAway:        "ballot: a host has stayed away for as long as its grant was kept",
		markResumed:           "ballot: a host is back under its grant",
		markMayBeKept:         "ballot: a grant that was taken up again is contested",
		markUnkeeps:           "ballot: a holder ends its kept lease, or its claim",
		markUnkeepFailed:      "ballot: the end of a kept lease is not saved",
		markClaimUnrecorded:   "ballot: a majority has not recorded a claim",
		markClaimStands:       "ballot: the claim of an earlier run stands",
		markClaimRefused:      "ballot: a member supports another claim than ours",
		markSoaks:             "ballot: a host soaks",
		markSoakEarly:         "ballot: a soak ends early",
		markSoakHeard:         "ballot: a member hears of a soak",
		markForgotten:         "ballot: a member starts without its state",
		markStartsKept:        "ballot: a member starts that keeps a grant",
	}
}
