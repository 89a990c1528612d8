package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

const (
	// askAgain is the pause before a member that has not got the token yet is asked again.
	askAgain = 20 * time.Millisecond
	// maxTokens is how many tokens are followed: as many as an agent can have.
	maxTokens = identity.MaxGates * wire.MaxSlots
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

// learnHomes takes in which members this host calls: they know where a token is, if this host does not.
func (f *Fleet) learnHomes(own *control.Status) {
	clear(f.homes)
	for i := range own.Gates {
		g := &own.Gates[i]
		for slot, c := range g.CalledTokens() {
			if len(f.homes) < maxTokens {
				f.homes[place{g.Name, slot}] = c.Homes
			}
		}
	}
}

// find asks the last known holder of each token whether it has the token now, and then the members to which the token
// was passed.
func (f *Fleet) find(ctx context.Context, members []membership.Member) control.Now {
	ctx, cancel := context.WithTimeout(ctx, holderWithin)
	defer cancel()
	s := search{Fleet: f, members: members, asked: make(map[string]bool), silent: make(map[string]string)}
	places := make(map[place]bool)
	for at := range f.seen {
		places[at] = true
	}
	for at := range f.homes {
		places[at] = true
	}
	now := control.Now{Tokens: []control.Holder{}}
	for _, at := range slices.SortedFunc(maps.Keys(places), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.gate, b.gate), cmp.Compare(a.slot, b.slot))
	}) {
		now.Tokens = append(now.Tokens, s.follow(ctx, at))
	}
	return now
}

// search is one search for all tokens.
type search struct {
	*Fleet
	members []membership.Member
	// asked are the members that have answered in this search; silent has those that have not, and why.
	asked  map[string]bool
	silent map[string]string
}

// follow follows a token until its holder has confirmed that it holds it. Where that leads nowhere, it asks the homes.
func (s *search) follow(ctx context.Context, at place) control.Holder {
	for {
		saw, isSeen := s.seen[at]
		if saw.holds && s.asked[saw.Member] {
			return saw.Holder
		}
		to := s.index(saw.Member)
		if home := s.home(at); to < 0 || s.asked[saw.Member] || s.silent[saw.Member] != "" {
			switch {
			case home >= 0:
				to = home
			case !isSeen:
				return control.Holder{Gate: at.gate, Slot: at.slot, Missing: s.noneKnows(at)}
			case to < 0:
				return lost(&saw, "is no member any more")
			case s.silent[saw.Member] != "":
				return lost(&saw, s.silent[saw.Member])
			default: // the token is on its way there
				select {
				case <-time.After(askAgain):
				case <-ctx.Done():
					return lost(&saw, "the token was on its way to it")
				}
			}
		}
		s.ask(ctx, at, &s.members[to])
	}
}

// ask asks one member where a token is.
func (s *search) ask(ctx context.Context, at place, m *membership.Member) {
	if s.home(at) >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, holderWithin/2) // so that there is time for a home
		defer cancel()
	}
	q, id := question{Subject: aboutStatus, Most: maxAnswer}, m.ID.String()
	status, err := oneReply(ctx, s.Fleet, m, q, s.host.Status, parseStatus)
	if err != nil {
		s.silent[id] = why(ctx, err)
		return
	}
	s.asked[id] = true
	if saw, isSeen := s.seen[at]; isSeen && saw.Member == id {
		// The member holds only what it reports now; and if it has passed the token on, that was later.
		saw.holds, saw.Since = false, time.Time{}
		s.seen[at] = saw
	}
	s.learn(status)
}

// noneKnows is why nobody could name the holder of a token.
func (s *search) noneKnows(at place) string {
	for _, h := range s.homes[at] {
		if s.asked[h.Member] {
			return "no home knows of a token; if there is none, it is made when it is called"
		}
	}
	return "no home answers"
}

func (s *search) index(member string) int {
	return slices.IndexFunc(s.members, func(m membership.Member) bool { return m.ID.String() == member })
}

// home returns a home of a token that has not been asked yet; -1 if there is none.
func (s *search) home(at place) int {
	for _, h := range s.homes[at] {
		if i := s.index(h.Member); i >= 0 && !s.asked[h.Member] && s.silent[h.Member] == "" {
			return i
		}
	}
	return -1
}

// lost returns the entry of a token whose last known holder cannot tell where it is.
func lost(saw *sighting, why string) control.Holder {
	return control.Holder{
		Gate: saw.Gate, Slot: saw.Slot, Name: saw.Name, Member: saw.Member, Seq: saw.Seq, SeqText: saw.SeqText,
		Since: saw.Since, Missing: why,
	}
}
