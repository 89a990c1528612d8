package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/marks"
)

// A machine tells its shell what happens: the notes. And it marks the rare branches that it takes, for those who look
// for bugs.

const (
	// NoteCreated: the fleet starts, or this member is alone, and it made the first token.
	NoteCreated policy.Note = iota + 64
	// NoteRegenerated: no token came for regenerate-after, and this member made a new one.
	NoteRegenerated
	// NoteInquired: no token came for regenerate-after, or the last holders are gone. This member asks others before it
	// makes one.
	NoteInquired
	// NoteSeen: Peer has seen Token later than this member has, so this member waits longer.
	NoteSeen
	// NoteArrived: a handoff ended here; this member holds Token, which came from Peer.
	NoteArrived
	// NoteRan: the protected operation starts under Token.
	NoteRan
	// NoteDenied: the start of the operation could not be saved, or not in time. It does not run, and Token is passed
	// on.
	NoteDenied
	// NoteOpposed: Peer runs, or is about to. This member holds Token and does not run this time.
	NoteOpposed
	// NoteOverruled: Peer objects to runs here, or wants to go first, for longer than an operation lasts. This member
	// runs.
	NoteOverruled
	// NoteResting: this member holds Token and does not run, because it ran too recently.
	NoteResting
	// NoteRemoved: Token arrived less than min_interval after a run under a token that precedes it, and was discarded.
	NoteRemoved
	// NoteMet: Token met an older token at this member and was discarded.
	NoteMet
	// NoteRevived: no holder of Token was found. This member, a guardian, has revived it; Peer held it last.
	NoteRevived
	// NoteYielded: no member answers this one. It has given Token up and tells the guardians to revive it.
	NoteYielded
	// NoteOvertaken: Peer knows of a copy of Token with a higher fencing number. This member discards its own.
	NoteOvertaken
	// NoteOutdated: Token arrived and is discarded, because a copy of it with a higher fencing number was seen.
	NoteOutdated
	// NoteSlotsDiffer: Peer is configured with another number of slots.
	NoteSlotsDiffer
	// NoteAlone: no other member is there; Token stays here.
	NoteAlone
	// NoteWaiting: this member has seen no other one since it started, and waits for one.
	NoteWaiting
	// NoteGaveUp: the host was asleep, and Token is given up.
	NoteGaveUp
	// NoteDropped: this member leaves, and no other member is there to take Token.
	NoteDropped
	// NoteLeft: this member has left.
	NoteLeft
	// NoteRenewed: an operator reported that there is no token, and this member made a new one.
	NoteRenewed
	// NoteReplaced: all other members answered that they have had no token, and this member made a new one.
	NoteReplaced
	// NoteRetired: fewer tokens are in use, and this member has given up Token, which is one too many.
	NoteRetired
)

// Notes returns the notes of the soft gate itself.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteCreated, Name: "minted", Level: policy.Info, Text: "made the first token"},
		{
			Note: NoteRegenerated, Name: "regenerated", Level: policy.Warn,
			Text: "no token came for regenerate-after; made a new one",
		},
		{
			Note: NoteInquired, Name: "inquired", Level: policy.Info,
			Text: "the token may be lost; asking other members whether they have seen it",
		},
		{
			Note: NoteSeen, Name: "seen", Level: policy.Debug,
			Text: "another member has seen the token; waiting for longer",
		},
		{Note: NoteArrived, Name: "arrived", Level: policy.Debug, Text: "token arrived"},
		{Note: NoteRan, Name: "ran", Level: policy.Debug, Text: "due; the hook may start"},
		{
			Note: NoteDenied, Name: "denied", Level: policy.Error, Denied: true,
			Text: "not running the hook this time; the token goes on",
		},
		{
			Note: NoteOpposed, Name: "opposed", Level: policy.Info,
			Text: "another member runs; not running the hook this time",
		},
		{
			Note: NoteOverruled, Name: "overruled", Level: policy.Warn,
			Text: "a member objects to runs here for longer than an operation takes; running all the same",
		},
		{Note: NoteResting, Name: "resting", Level: policy.Debug, Text: "token rests"},
		{
			Note: NoteRemoved, Name: "removed", Level: policy.Info,
			Text: "removed a token: this member ran recently under an older one",
		},
		{Note: NoteMet, Name: "met_older", Level: policy.Info, Text: "two tokens met; removed the younger"},
		{Note: NoteRevived, Name: "revived", Level: policy.Warn, Text: "the token's holder is lost; revived the token"},
		{
			Note: NoteYielded, Name: "yielded", Level: policy.Warn,
			Text: "no message comes from another member; gave up the token and told its guardians to revive it: " +
				"check that UDP gets through to this host",
		},
		{
			Note: NoteOvertaken, Name: "overtaken", Level: policy.Warn,
			Text: "the token has another holder; dropped it here",
		},
		{
			Note: NoteOutdated, Name: "outdated", Level: policy.Info,
			Text: "dropped a copy of a token that has another holder",
		},
		{
			Note: NoteSlotsDiffer, Name: "slots_differ", Level: policy.Warn, Repeats: true,
			Text: "a member has another number of slots: give all members of a gate the same",
		},
		{
			Note: NoteAlone, Name: "alone", Level: policy.Info, Facts: []policy.Key{policy.KeyNextRun},
			Text: "alone in this gate; keeping the token",
		},
		{
			Note: NoteWaiting, Name: "waiting", Level: policy.Info, Facts: []policy.Key{policy.KeyWaitsForFleet},
			Text: "waiting to see another member (--alone run starts without one)",
		},
		{Note: NoteGaveUp, Name: "gave_up", Level: policy.Warn, Text: "gave up the token after the suspension"},
		{Note: NoteDropped, Name: "dropped", Level: policy.Info, Text: "nobody is left to take the token"},
		{
			Note: NoteRenewed, Name: "renewed", Level: policy.Warn,
			Text: "an operator says that the token is lost; made a new one",
		},
		{
			Note: NoteReplaced, Name: "replaced", Level: policy.Warn,
			Text: "the token's holder and its guardians are gone, and no member has it; made a new one",
		},
		{Note: NoteRetired, Name: "retired", Level: policy.Info, Text: "fewer members: gave up a token too many"},
		{Note: NoteLeft, Name: "left", Level: policy.Info, Text: "left the gate"},
	}
}

// The rare branches: what each says is in [Marks].
const (
	markCalledOff marks.Mark = iota + 96
	markSavedCalledOff
	markAskedAreGone
	markReleased
	markOfferOfHigher
	markReadied
	markSaveHangs
	markRunDenied
	markEndedWithout
	markEndedInDoubt
	markStray
	markArrivedOutdated
	markRemoved
	markRemovesHeld
	markMetCopy
	markMetOlder
	markMetYounger
	markGoesOnUnder
	markUnused
	markSoaks
	markLostInRun
	markOtherGuardians
	markRises
	markGreeted
	markMetAnother
	markUnbelieved
	markUnbelievedAnswer
	markStayedAway
	markRevives
	markRevivedRemoved
	markRevivedWhileHolding
	markDoubts
	markSureOfNothing
	markSureResumed
	markAnswered
	markOvertaken
	markStopsRun
	markSaveFailed
	markDeniedWithout
	markDeniedInDoubt
	markRetracts
	markAsksAgain
	markUnanswered
	markGivesWayToOlder
	markOverrulesOther
	markObjected
	markOverrules
	markKeptClosed
	markNobodyKeeps
	markKeepLate
	markBackUnheard
	markBackHeard
	markRestoresGuard
	markResumes
	markLeavesInRun
	markLeavesBack
	markLeavesSaving
	markSleptAlone
	markSleptKept
	markSleptHolding
	markSavesNumber
	markDropped
	markProbes
	markDueUnheard
	markYields
	markMakesFirst
	markMakesLost
	markMakesRenewed
	markMakesCertain
	markUncertain
	markAskedInVain
	markAskedTooEarly
	markAsksAllAgain
	markAsksAsker
	markClearAgain
	markTellsOfKept
	markTellsSighting
	markNamesFirst
	markSeenLater
	markSeenUnsure
	markStepsOver
	markPursues
	markSilentBatch
	markAsksSlowly
	markViewAnswers
	markGivesWay
	markGivesWayFirst
	markGivesWayCertain
	markTellsOfAsker
	markUnseenUnsure
	markCameWhileAsking
	markHoldersGone
	markUnsure
	markKeptElsewhere
	markWaitsAlone
	markFirstAlone
	markUnclear
	markFirstUncertain
	markSlotsDiffer
	markRetiresUnused
	markSurplus
	markRetires
	markMixed
	markGrows
	markShrinks
	markDesists
	markDesistsGranted
	markMayNotUse
	markCame
)

// Marks returns the rare branches of this protocol, with those of its parts.
func Marks() marks.Names {
	return marks.Join(handoff.Marks(), guardian.Marks(), marks.Names{
		markCalledOff:           "wander: a run whose start is being saved is called off",
		markSavedCalledOff:      "wander: the save of a start ends that was called off",
		markAskedAreGone:        "wander: all that are asked before a run, and have not answered, have left the view",
		markReleased:            "wander: a token that was kept rests for skip only: others are here",
		markOfferOfHigher:       "wander: a holder is offered a copy with a higher number",
		markReadied:             "wander: the host needs a run while a token rests here",
		markSaveHangs:           "wander: a save takes too long",
		markRunDenied:           "wander: a run that was granted does not start",
		markEndedWithout:        "wander: a run ends whose token is lost",
		markEndedInDoubt:        "wander: a run ends while the guardians are asked",
		markStray:               "wander: a message has another slot, or is not expected",
		markArrivedOutdated:     "wander: a token arrives that a copy has overtaken",
		markRemoved:             "wander: a token is removed",
		markRemovesHeld:         "wander: a copy of the held token is removed, and the held one, too",
		markMetCopy:             "wander: a token meets a copy of itself",
		markMetOlder:            "wander: a token that arrives meets an older one",
		markMetYounger:          "wander: a token that arrives meets a younger one",
		markGoesOnUnder:         "wander: a run goes on under another token",
		markUnused:              "wander: a token comes that nobody may use yet",
		markSoaks:               "wander: a host soaks",
		markLostInRun:           "wander: a run goes on without its token",
		markOtherGuardians:      "wander: a view gives the token other guardians",
		markRises:               "wander: a holder takes the higher number of a question",
		markGreeted:             "wander: a holder greets a member that would make the first token",
		markMetAnother:          "wander: a holder hears of another token",
		markUnbelieved:          "wander: a number is not believed",
		markUnbelievedAnswer:    "wander: an answer has a number that is not believed",
		markStayedAway:          "wander: a host has stayed away for as long as its grant was kept",
		markRevives:             "wander: a guardian revives the token",
		markRevivedRemoved:      "wander: a token is revived and removed",
		markRevivedWhileHolding: "wander: a token is revived by a holder",
		markDoubts:              "wander: a holder that was away asks its guardians",
		markSureOfNothing:       "wander: no guardian answers a holder",
		markSureResumed:         "wander: a resumed run is still the only one",
		markAnswered:            "wander: a member that was not heard is heard",
		markOvertaken:           "wander: a holder learns of a copy with a higher number",
		markStopsRun:            "wander: a run stops because its token is lost",
		markSaveFailed:          "wander: the save of a start fails, or is late",
		markDeniedWithout:       "wander: a start is denied whose token is lost",
		markDeniedInDoubt:       "wander: a start is denied while the guardians are asked",
		markRetracts:            "wander: a grant is withdrawn before its run starts",
		markAsksAgain:           "wander: a member was away while the others answered, and asks again",
		markUnanswered:          "wander: not all have answered before a run",
		markGivesWayToOlder:     "wander: of two that ask before a run, one steps back",
		markOverrulesOther:      "wander: the question of a member does not count any more",
		markObjected:            "wander: a member objects to a run",
		markOverrules:           "wander: the objection of a member does not count any more",
		markKeptClosed:          "wander: a window closes while the guardians are asked to keep a grant",
		markNobodyKeeps:         "wander: no guardian keeps a grant",
		markKeepLate:            "wander: a guardian is slow to keep a grant",
		markBackUnheard:         "wander: no guardian answers a host that is back",
		markBackHeard:           "wander: a guardian answers a host that is back",
		markRestoresGuard:       "wander: a guardian of a kept grant has restarted",
		markResumes:             "wander: a host is back under its grant",
		markLeavesInRun:         "wander: a member leaves while it runs",
		markLeavesBack:          "wander: a member leaves while it hands a token back",
		markLeavesSaving:        "wander: a member leaves while it saves",
		markSleptAlone:          "wander: a host has slept that is alone",
		markSleptKept:           "wander: a host has slept under a kept grant",
		markSleptHolding:        "wander: a holder has slept",
		markSavesNumber:         "wander: a number must be saved before the token goes on",
		markDropped:             "wander: a member leaves and is alone",
		markProbes:              "wander: nobody has answered a holder for a while",
		markDueUnheard:          "wander: a holder is due after its offer has failed",
		markYields:              "wander: a holder that is not heard yields",
		markMakesFirst:          "wander: a member makes the first token",
		markMakesLost:           "wander: a member makes a token after a silence",
		markMakesRenewed:        "wander: a member makes a token because an operator says that there is none",
		markMakesCertain:        "wander: a member makes a token because the loss is certain",
		markUncertain:           "wander: all have answered, and the loss is not certain",
		markAskedInVain:         "wander: no answer is needed any more",
		markAskedTooEarly:       "wander: a silence was over only after the others were asked",
		markAsksAllAgain:        "wander: a question has lasted for too long, and all are asked again",
		markAsksAsker:           "wander: a member asks the one that asks already",
		markClearAgain:          "wander: the first token was unclear, and is not any more",
		markTellsOfKept:         "wander: a guardian of a kept grant is asked for a token",
		markTellsSighting:       "wander: a member is asked for a token of which it was told",
		markNamesFirst:          "wander: a member that asks is told of one that goes first",
		markSeenLater:           "wander: another member has seen the token later",
		markSeenUnsure:          "wander: the token was seen, and a loss is not certain",
		markStepsOver:           "wander: an answer names others, and they are not asked",
		markPursues:             "wander: an answer names others, and they are asked",
		markSilentBatch:         "wander: some members do not answer",
		markAsksSlowly:          "wander: some members do not answer, and are asked more slowly",
		markViewAnswers:         "wander: those that have not answered have left the view",
		markGivesWay:            "wander: a member lets another one ask",
		markGivesWayFirst:       "wander: a member lets another one make the first token",
		markGivesWayCertain:     "wander: a member lets another one be certain",
		markTellsOfAsker:        "wander: a member that asks is told of one that asks already",
		markUnseenUnsure:        "wander: a member has had the token since a question began",
		markCameWhileAsking:     "wander: a member comes while the loss is made certain",
		markHoldersGone:         "wander: all that had the token last have left the view",
		markUnsure:              "wander: a loss is not certain",
		markKeptElsewhere:       "wander: a host may be away under its grant",
		markWaitsAlone:          "wander: a member waits for its fleet",
		markFirstAlone:          "wander: a member is alone",
		markUnclear:             "wander: the first token may exist already",
		markFirstUncertain:      "wander: it is not certain that the first token does not exist",
		markSlotsDiffer:         "wander: members count different numbers of tokens",
		markRetiresUnused:       "wander: a token is one too many where it rests",
		markSurplus:             "wander: a token is one too many",
		markRetires:             "wander: a token too many is given up",
		markMixed:               "wander: tokens do not share the members any more, because members count differently",
		markGrows:               "wander: a token more comes into use",
		markShrinks:             "wander: the machine of a token too many ends",
		markDesists:             "wander: a member is not due any more",
		markDesistsGranted:      "wander: a member is not due any more whose start is being saved",
		markMayNotUse:           "wander: a member may not use the token that it holds",
		markCame:                "wander: members have come",
	})
}
