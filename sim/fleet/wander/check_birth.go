package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// NewBirthChecker checks that a new token is younger than every token that its maker has met, whatever the maker's
// clock says: "the token tg, generated in response to a timeout for a token tx, has a timestamp larger than tx"
// (Ciuffoletti, section 5.2). Otherwise tx, which is older and may live, would be removed in favour of tg. Stamps in
// the future do not count.
//
//go:noinline
func NewBirthChecker() sim.Watcher {
	return sim.EachMember(func(met *int64, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Ends() {
			// A member that starts forgets what it has not saved.
			saved := c.Disk(o.Member)
			*met = soft.MemoOf(&saved.Memo).Token.Birth
		}
		if o.Forgot {
			*met = 0
		}
		for e := range o.Did(policy.Took) {
			birth, newest, latest := e.Token.ID.Birth, *met, wire.LatestBirth(c.Instant(o.Member).Wall)
			if newest > latest {
				newest = 0
			}
			switch made := e.Cause == policy.CauseMade; {
			case made && wander.IsFirst(e.Token.ID) && replaces(o):
				return fmt.Errorf("birth: %s makes %v to replace a lost token, and calls it a first one", o.Who(),
					e.Token.ID)
			case made && birth > latest:
				return fmt.Errorf("birth: %s makes %v in the future", o.Who(), e.Token.ID)
			case made && birth <= newest:
				return fmt.Errorf("birth: %s makes %v and has met one with the same stamp or a later one", o.Who(),
					e.Token.ID)
			case e.Cause != policy.CauseRevived:
				*met = max(newest, birth)
			}
		}
		return nil
	})
}

// replaces reports whether in this step a member makes a token that replaces a lost one.
func replaces(o *sim.Occurrence) bool {
	for e := range o.Did(policy.Tell) {
		if e.Note == wander.NoteRegenerated {
			return true
		}
	}
	return false
}
