package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
)

const (
	// askAgain is the pause before a member that has not got the token yet is asked again.
	askAgain = 20 * time.Millisecond
	// maxTokens is how many tokens are followed: more than an agent can have.
	maxTokens = 64
)

type place struct {
	gate string
	slot int
}

// sighting is what a member has reported of a token: that it holds it, or to whom it has passed it.
type sighting struct {
	control.Holder
	holds bool
}

// newer reports whether s is newer than o. A token's number rises with each handoff, so the highest is the last.
func (s *sighting) newer(o *sighting) bool {
	return cmp.Or(cmp.Compare(s.Seq, o.Seq), s.Since.Compare(o.Since)) > 0 || s.Seq == o.Seq && s.holds && !o.holds
}

// learn takes in what a status reports of tokens.
func (f *Fleet) learn(s *control.Status) {
	for i := range s.Gates {
		g := &s.Gates[i]
		slots := g.Tokens
		if len(slots) == 0 {
			slots = []control.Slot{{State: g.State, Whereabouts: g.Whereabouts}}
		}
		for _, t := range slots {
			if t.Holder == "" || t.Seq == 0 {
				continue
			}
			saw := sighting{holds: t.Holding, Holder: control.Holder{
				Gate: g.Name, Slot: t.Slot, Name: t.HolderName, Member: t.Holder, Seq: t.Seq, SeqText: t.SeqText,
				Since: t.HolderSince,
			}}
			if t.Holding && g.Running && (len(g.Tokens) == 0 || t.State == g.State) {
				saw.Running, saw.RunningSince = true, g.LastRun
				for _, c := range g.Callers {
					if c.Running {
						saw.Command, saw.RunningSince = c.Command, c.RunningSince
					}
				}
			}
			at := place{g.Name, t.Slot}
			known, ok := f.seen[at]
			if ok && saw.newer(&known) || !ok && len(f.seen) < maxTokens {
				f.seen[at] = saw
			}
		}
	}
}

// find asks the last known holder of each token whether it has the token now, and then the members to which the token
// was passed.
func (f *Fleet) find(ctx context.Context, members []membership.Member) control.Now {
	ctx, cancel := context.WithTimeout(ctx, holderWithin)
	defer cancel()
	asked := make(map[string]bool) // the members that have answered in this search
	now := control.Now{Tokens: []control.Holder{}}
	for _, at := range slices.SortedFunc(maps.Keys(f.seen), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.gate, b.gate), cmp.Compare(a.slot, b.slot))
	}) {
		now.Tokens = append(now.Tokens, f.follow(ctx, at, members, asked))
	}
	return now
}

// follow follows a token until its holder has confirmed that it holds it.
func (f *Fleet) follow(ctx context.Context, at place, members []membership.Member,
	asked map[string]bool,
) control.Holder {
	for {
		saw := f.seen[at]
		if saw.holds && asked[saw.Member] {
			return saw.Holder
		}
		to := slices.IndexFunc(members, func(m membership.Member) bool { return m.ID.String() == saw.Member })
		if to < 0 {
			return lost(&saw, "is no member any more")
		}
		if asked[saw.Member] { // the token is on its way there
			select {
			case <-time.After(askAgain):
			case <-ctx.Done():
				return lost(&saw, "the token was on its way to it")
			}
		}
		status, err := oneReply(ctx, f, &members[to], question{Subject: aboutStatus, Most: maxAnswer}, f.host.Status,
			parseStatus)
		if err != nil {
			return lost(&saw, why(ctx, err))
		}
		asked[saw.Member] = true
		// The member holds only what it reports now; and if it has passed the token on, that was later.
		saw.holds, saw.Since = false, time.Time{}
		f.seen[at] = saw
		f.learn(status)
	}
}

// lost returns the entry of a token whose last known holder cannot tell where it is.
func lost(saw *sighting, why string) control.Holder {
	return control.Holder{
		Gate: saw.Gate, Slot: saw.Slot, Name: saw.Name, Member: saw.Member, Seq: saw.Seq, SeqText: saw.SeqText,
		Since: saw.Since, Missing: why,
	}
}
