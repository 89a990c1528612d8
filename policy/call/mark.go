package call

import (
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
)

// The rare branches: what each says is in [Marks].
const (
	markEarlyWake marks.Mark = iota + 96
	markStray
	markCallersGone
	markRetractedUnwanted
	markQueueSentAway
	markFirstHomeChanged
	markHolderLeftView
	markOfferStale
	markSaveLate
	markDroppedStale
	markRefusedByNumber
	markRose
	markDismissed
	markGreetedOlder
	markHeartbeatStale
	markHeartbeatReplaces
	markHeartbeatUnbelieved
	markHeartbeatTook
	markHeartbeatOfWaiter
	markStayedAway
	markRevivedHere
	markRevivedBeside
	markOvertakenHere
	markWaitersToOvertaker
	markSuspended
	markSuspendedBusy
	markSuspendedRunning
	markLeaveRunning
	markLeaveSaving
	markLeaveQueue
	markCallElsewhere
	markCallByHolder
	markCallByHolderAgain
	markOverTold
	markOverAfter
	markWhere
	markNextUnbelieved
	markNextOver
	markNextNotHere
	markNextAfterNotHere
	markNextOlder
	markSentAfter
	markNextHomeTold
	markWhereNamesSelf
	markWhereDenies
	markWhereFollowed
	markKeepAsked
	markKeepDenied
	markKeepLate
	markKeepOther
	markResumed
	markResumedEnds
	markKeptLost
	markArrivalAgain
	markHomesSilent
	markArrivalPauses
	markArrivalEnds
	markAnotherHome
	markNoOtherHome
	markHeardLate
	markHeardAsking
	markHomesChanged
	markHomeReleased
	markArrivedOutdated
	markArrivedBeside
	markTookRunning
	markMetYounger
	markMetCopy
	markMetOlder
	markMakesLate
	markMayNotMake
	markMade
	markRenewed
	markMadeAgain
	markReportFormer
	markReportSame
	markReported
	markReportSelf
	markReportGuards
	markReportLost
	markReportRepeated
	markAsks
	markSavedForHandoff
	markCalledOff
	markDenied
	markRunOverLost
	markRetracted
	markMustSave
	markNoAnswer
	markHomesWhileOffered
	markPassOn
	markDropped
	markLostRunning
	markLooks
	markLooksLater
	markNextBatch
	markLookedInVain
	markFirstHomeTold
	markSearchRepeated
	markAllAnswered
	markSeekHolder
	markSeekGuardian
	markSeekAway
	markSeekLately
	markFoundGuardian
	markFoundHolder
	markCallsMore
	markTokenComing
	markCalledInVain
	markWaitOver
	markCallPostponed
	markCalledHomes
	markCalledAll
	markCalledAnother
	markCalledDrawn
	markQueuedByOther
)

// Marks returns the rare branches of this protocol, with those of its parts.
func Marks() marks.Names {
	return marks.Join(handoff.Marks(), guardian.Marks(), marks.Names{
		markEarlyWake:           "call: a wake-up comes early",
		markStray:               "call: a message changes nothing",
		markCallersGone:         "call: callers are gone before their run",
		markRetractedUnwanted:   "call: a grant is withdrawn: nobody waits any more",
		markQueueSentAway:       "call: a member that is no home any more sends its waiters away",
		markFirstHomeChanged:    "call: the first home has changed",
		markHolderLeftView:      "call: the holder has left the view",
		markOfferStale:          "call: an offer of a stale copy is refused",
		markSaveLate:            "call: a save takes too long",
		markDroppedStale:        "call: a holder drops a stale copy",
		markRefusedByNumber:     "call: a stale copy is refused by its number only",
		markRose:                "call: a question raises the held number",
		markDismissed:           "call: a younger token is dismissed",
		markGreetedOlder:        "call: the holder of a younger token hears of an older one",
		markHeartbeatStale:      "call: the heartbeat of a stale copy is refused",
		markHeartbeatReplaces:   "call: a heartbeat replaces what others have said",
		markHeartbeatUnbelieved: "call: a heartbeat is no news of the token",
		markHeartbeatTook:       "call: the member that was given the token has it",
		markHeartbeatOfWaiter:   "call: a waiter has the token",
		markStayedAway:          "call: a host under its grant has stayed away",
		markRevivedHere:         "call: a guardian becomes the holder",
		markRevivedBeside:       "call: a holder of one token revives another one",
		markOvertakenHere:       "call: a holder gives up an overtaken copy",
		markWaitersToOvertaker:  "call: waiters go to the member that has the token",
		markSuspended:           "call: a member goes on after a sleep",
		markSuspendedBusy:       "call: a member slept while it offered or saved",
		markSuspendedRunning:    "call: a member slept during its run",
		markLeaveRunning:        "call: a member leaves during its run",
		markLeaveSaving:         "call: a member leaves while it saves",
		markLeaveQueue:          "call: a member leaves, and sends its waiters away",
		markCallElsewhere:       "call: a member that queues nobody is called",
		markCallByHolder:        "call: the holder as known calls",
		markCallByHolderAgain:   "call: the holder as known calls again",
		markOverTold:            "call: the holder is told that a wait is over",
		markOverAfter:           "call: the word that a wait is over is sent after the token",
		markWhere:               "call: a member says where the token is",
		markNextUnbelieved:      "call: only a holder knows who does not answer",
		markNextOver:            "call: a member is told of a wait that is over, or was not answered",
		markNextNotHere:         "call: a member that holds nothing is told of waiters",
		markNextAfterNotHere:    "call: the word comes after the token, which has gone on",
		markNextOlder:           "call: a holder is told of waiters with an older number",
		markSentAfter:           "call: a wait is sent after the token",
		markNextHomeTold:        "call: the first home runs, and tells the next one",
		markWhereNamesSelf:      "call: a member is told that it is the holder",
		markWhereDenies:         "call: the holder as known does not hold the token",
		markWhereFollowed:       "call: a caller calls the member that an answer names",
		markKeepAsked:           "call: homes are asked to keep a grant",
		markKeepDenied:          "call: no home keeps a grant",
		markKeepLate:            "call: homes are late to keep a grant",
		markKeepOther:           "call: a home restarts with a kept grant",
		markResumed:             "call: a holder restarts with its kept grant",
		markResumedEnds:         "call: a holder that was away has ended its run",
		markKeptLost:            "call: a kept grant ends",
		markArrivalAgain:        "call: an announcement is repeated",
		markHomesSilent:         "call: silent homes are replaced",
		markArrivalPauses:       "call: a holder that waits for a word is silent for a while",
		markArrivalEnds:         "call: a holder gives up its announcement",
		markAnotherHome:         "call: any other member becomes a home",
		markNoOtherHome:         "call: there is no other home",
		markHeardLate:           "call: a former home answers late",
		markHeardAsking:         "call: the word comes for which a holder has waited",
		markHomesChanged:        "call: a holder chooses other homes",
		markHomeReleased:        "call: a former home is released",
		markArrivedOutdated:     "call: a copy arrives that was overtaken",
		markArrivedBeside:       "call: a second token arrives at a holder",
		markTookRunning:         "call: a token comes during a run",
		markMetYounger:          "call: two tokens meet, and the younger one goes",
		markMetCopy:             "call: a later copy replaces the held one",
		markMetOlder:            "call: an older token replaces the held one",
		markMakesLate:           "call: a home may make a token although not all have answered",
		markMayNotMake:          "call: a loss is not certain",
		markMade:                "call: a token is made",
		markRenewed:             "call: an operator asks for a token",
		markMadeAgain:           "call: a lost token is replaced",
		markReportFormer:        "call: a home goes on with what it told the former holder",
		markReportSame:          "call: the same holder is told again",
		markReported:            "call: a holder is told of waiters",
		markReportSelf:          "call: a member took itself for the holder",
		markReportGuards:        "call: a guardian suspects the holder that it told",
		markReportLost:          "call: a home looks for a holder that was silent",
		markReportRepeated:      "call: a holder is told of waiters again",
		markAsks:                "call: a holder waits for the word of a home",
		markSavedForHandoff:     "call: a token is passed on after a save",
		markCalledOff:           "call: a run is called off while it is saved",
		markDenied:              "call: a grant leads to no run",
		markRunOverLost:         "call: a run ends without its token",
		markRetracted:           "call: a grant is withdrawn",
		markMustSave:            "call: a token waits for a save before it is passed on",
		markNoAnswer:            "call: a waiter does not answer an offer",
		markHomesWhileOffered:   "call: members have come while the token was offered",
		markPassOn:              "call: a member that leaves passes the token on",
		markDropped:             "call: nobody is left to take the token",
		markLostRunning:         "call: a run loses its token",
		markLooks:               "call: a home looks for the token",
		markLooksLater:          "call: a home looks for the token after a pause",
		markNextBatch:           "call: a home asks the next members",
		markLookedInVain:        "call: all were asked, and no token is made",
		markFirstHomeTold:       "call: a home that looks in vain tells the first one",
		markSearchRepeated:      "call: a question is repeated",
		markAllAnswered:         "call: all have answered",
		markSeekHolder:          "call: the holder is asked where the token is",
		markSeekGuardian:        "call: a guardian is asked where the token is",
		markSeekAway:            "call: a host may be away under its grant",
		markSeekLately:          "call: the token was here lately",
		markFoundGuardian:       "call: a guardian is told of the waiters",
		markFoundHolder:         "call: a holder is found",
		markCallsMore:           "call: more tokens are called",
		markTokenComing:         "call: a token is on its way, so no more are called",
		markCalledInVain:        "call: a token has come in vain",
		markWaitOver:            "call: a wait ends unserved",
		markCallPostponed:       "call: a call waits for a token that is on its way",
		markCalledHomes:         "call: all homes are called",
		markCalledAll:           "call: all members are called",
		markCalledAnother:       "call: another home is called",
		markCalledDrawn:         "call: some members are called at random",
		markQueuedByOther:       "call: a member that is no home has queued a caller",
	})
}
