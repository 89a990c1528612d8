package guardian

import "github.com/wanderd/wanderd/policy/marks"

// The rare branches: what each says is in [Marks].
const (
	markAskedOfTombstone marks.Mark = iota + 32
	markAskedOfAnother
	markAskedLater
	markAskedByHolder
	markAskedToRevive
	markGaveWay
	markRepliedKept
	markClaimed
	markStaleHeartbeat
	markOvertaken
	markOvertakenByTombstone
	markCorrectedTombstone
	markEqualNumbers
	markTombstoneSent
	markStaleHeartbeatCorrected
	markPostponed
	markNeedless
	markSuspected
	markSuspectedYielded
	markRevived
	markCalmKept
	markAskingStopped
	markAskedOthers
	markAskedAgain
	markAllAnswered
	markAnswerLater
	markReassured
	markTombstone
	markTombstoneAnswers
	markStoodDown
	markYielded
	markYieldRevives
	markKeepChosen
	markKeepOvertaken
	markKeepOver
	markKeepUnsaved
	markKeptLater
	markKeptOver
	markKeepAskedAgain
	markKeepRestored
	markSoaks
)

// Marks returns the rare branches of holders and guardians.
func Marks() marks.Names {
	return marks.Names{
		markAskedOfTombstone:        "guardians: a question about a token that was removed",
		markAskedOfAnother:          "guardians: a question about another token than the guarded one",
		markAskedLater:              "guardians: a question is news of a later copy",
		markAskedByHolder:           "guardians: the holder itself asks",
		markAskedToRevive:           "guardians: another guardian lets this one go first",
		markGaveWay:                 "guardians: a revival waits because an older token may be revived",
		markRepliedKept:             "guardians: a guardian of a kept grant makes an asker wait",
		markClaimed:                 "guardians: a holder answers a question",
		markStaleHeartbeat:          "guardians: a heartbeat comes of a copy that the held one has overtaken",
		markOvertaken:               "guardians: a holder hears of a later copy",
		markOvertakenByTombstone:    "guardians: a holder hears that a later copy was removed",
		markCorrectedTombstone:      "guardians: guardians hear that the later copy was removed",
		markEqualNumbers:            "guardians: two copies with the same number meet",
		markTombstoneSent:           "guardians: a heartbeat of a removed token is answered",
		markStaleHeartbeatCorrected: "guardians: a guardian corrects a stale holder",
		markPostponed:               "guardians: a revival is postponed: its asker hears a holder",
		markNeedless:                "guardians: a guarded token is needless: there is another one",
		markSuspected:               "guardians: a holder is suspected",
		markSuspectedYielded:        "guardians: a guardian asks about a token that was given up",
		markRevived:                 "guardians: a token is revived",
		markCalmKept:                "guardians: the guardian of a kept grant waits for longer",
		markAskingStopped:           "guardians: a question ends because there is news",
		markAskedOthers:             "guardians: other members than guardians are asked",
		markAskedAgain:              "guardians: a question begins again: its asker was away",
		markAllAnswered:             "guardians: all that were asked have answered",
		markAnswerLater:             "guardians: an answer is news of a later copy",
		markReassured:               "guardians: an answer says that the holder lives",
		markTombstone:               "guardians: a token is removed, and has a tombstone",
		markTombstoneAnswers:        "guardians: a tombstone answers a question",
		markStoodDown:               "guardians: a guardian hears that its token was removed",
		markYielded:                 "guardians: a guardian hears that the token was given up",
		markYieldRevives:            "guardians: a token is revived because its holder gave it up",
		markKeepChosen:              "guardians: a kept grant comes before a heartbeat",
		markKeepOvertaken:           "guardians: a kept grant comes after a later heartbeat",
		markKeepOver:                "guardians: a guardian hears that a kept grant is over",
		markKeepUnsaved:             "guardians: a kept grant waits for a save",
		markKeptLater:               "guardians: a guardian counts further than the holder",
		markKeptOver:                "guardians: all guardians know that a kept grant is over",
		markKeepAskedAgain:          "guardians: a holder asks its guardians again",
		markKeepRestored:            "guardians: a guardian restarts with a kept grant",
		markSoaks:                   "guardians: the host of a holder soaks",
	}
}
