package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// BirthChecker checks that a new token is younger than every token that its maker has met, whatever the maker's clock says: "the token
// tg, generated in response to a timeout for a token tx, has a timestamp larger than tx" (Ciuffoletti, section 5.2). Otherwise tx,
// which is older and may live, would be removed in favour of tg. A stamp in the future does not count.
type BirthChecker struct{ newest map[int]int64 }

// NewBirthChecker returns a checker of one run.
func NewBirthChecker() *BirthChecker { return &BirthChecker{newest: map[int]int64{}} }

// Watch implements [sim.Watcher].
func (k *BirthChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		// It forgets what it has not saved.
		saved := c.Disk(o.Member)
		k.newest[o.Member] = wander.MemoOf(&saved.Memo).Token.Birth
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind != policy.Took {
			continue
		}
		birth, newest, latest := e.Token.ID.Birth, k.newest[o.Member], wire.LatestBirth(c.Instant(o.Member).Wall)
		if newest > latest {
			newest = 0
		}
		made := e.Cause == policy.CauseMade
		if made && birth > latest {
			return fmt.Errorf("birth: %s makes %v in the future", sim.MemberName(o.Member), e.Token.ID)
		}
		if made && birth <= newest {
			return fmt.Errorf("birth: %s makes %v and has met one with the same stamp or a later one", sim.MemberName(o.Member), e.Token.ID)
		}
		if e.Cause != policy.CauseRevived {
			k.newest[o.Member] = max(newest, birth)
		}
	}
	return nil
}
