package strict

import (
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
)

// The rare branches: what each says is in [Marks].
const (
	markDesists marks.Mark = iota + 160
	markProposes
	markSearchesInVain
	markOverInRun
	markOver
	markGives
	markDiscards
	markYields
	markOfferRefused
	markReleaseHeard
	markUnbelieved
	markOutdated
	markMeets
	markWhoseRunChanged
	markTaken
	markRecordOld
	markRecords
	markRecordFails
	markRecordLate
	markSkips
	markUnrecords
	markSkipsKept
	markSkipsContested
	markSoakGoesOn
	markBackYields
	markBackResumed
	markResumeUnheard
	markClaimEnded
	markBarred
)

// Marks returns the rare branches of this protocol, with those of its parts.
func Marks() marks.Names {
	return marks.Join(handoff.Marks(), ballot.Marks(), marks.Names{
		markDesists:         "strict: a member proposes no more",
		markProposes:        "strict: a member proposes",
		markSearchesInVain:  "strict: a site that waits no longer searches for a token",
		markOverInRun:       "strict: a token is over while the operation runs",
		markOver:            "strict: a token is over",
		markGives:           "strict: a token goes for a newer one, or for a soak",
		markDiscards:        "strict: an epoch ends early",
		markYields:          "strict: a member gives the token up for others",
		markOfferRefused:    "strict: a token that is offered is refused for a newer epoch",
		markReleaseHeard:    "strict: the token that a member waits for is over",
		markUnbelieved:      "strict: a number is not believed",
		markOutdated:        "strict: a token of an older epoch is offered",
		markMeets:           "strict: a token of a newer epoch comes",
		markWhoseRunChanged: "strict: a turn is skipped because it was recorded for another run",
		markTaken:           "strict: the interval is that of another member",
		markRecordOld:       "strict: a start was recorded too long ago",
		markRecords:         "strict: a start is being recorded",
		markRecordFails:     "strict: a start could not be recorded",
		markRecordLate:      "strict: a start is recorded too late",
		markSkips:           "strict: a turn ends without a run",
		markUnrecords:       "strict: a start was recorded that was none",
		markSkipsKept:       "strict: a turn ends without a run, and its grant or claim is taken back",
		markSkipsContested:  "strict: a contested token is given up without a run",
		markSoakGoesOn:      "strict: a stop cuts a soak short",
		markBackYields:      "strict: a token that is handed back is contested",
		markBackResumed:     "strict: a token of an earlier life is handed back",
		markResumeUnheard:   "strict: a claim of before the gate was resumed is named",
		markClaimEnded:      "strict: an operator ends the interval of another member",
		markBarred:          "strict: a roster does not follow the saved one",
	})
}
