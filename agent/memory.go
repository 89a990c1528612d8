package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// memory holds the members that were known before the restart, and keeps the list on the disk up to date. It writes
// beside the loop, and not at every change: a slightly old list is enough to find the fleet.
type memory struct {
	// fleet are the remembered members. ever is true if this agent has ever seen another member.
	fleet []membership.Remembered
	ever  bool
	// lost is true if the list on the disk is gone.
	lost atomic.Bool
	// changed signals that the list must be written; its capacity is one.
	changed chan struct{}
}

const (
	// rememberAfter is how long to wait for further changes before the list is written, rememberEvery the least time
	// between two writes.
	rememberAfter = time.Second
	rememberEvery = 30 * time.Second
)

// recall reads the remembered members. Without them the agent starts as if for the first time.
func (a *Agent) recall() {
	a.memory.changed = make(chan struct{}, 1)
	fleet, ever, err := a.state.LoadMembers()
	if err != nil {
		a.log.Warn().Err(err).Msg("starting without a memory of the fleet")
	}
	a.memory.fleet, a.memory.ever = fleet, ever
}

// waitsAlone reports whether a member that has never been in a fleet waits for one.
func (a *Agent) waitsAlone() bool {
	return a.cfg.Alone == AloneWait || a.cfg.Alone == AloneAuto && len(a.cfg.Join) > 0
}

// rejoins reports whether this agent was in a fleet and waits for it. An agent that has forgotten all others is a fleet
// of one again, unless it has addresses to join.
func (a *Agent) rejoins() bool {
	return a.memory.ever && a.cfg.Alone != AloneRun && (len(a.memory.fleet) > 0 || a.waitsAlone())
}

// sitsAlone reports whether this agent sees no other member, and waits for one.
func (a *Agent) sitsAlone() bool { return len(a.view.Members) <= 1 && (a.waitsAlone() || a.rejoins()) }

// keepMemory writes the list after each change until ctx is done.
func (a *Agent) keepMemory(ctx context.Context) {
	written, failed := a.memory.fleet, false
	for last := (time.Time{}); ; last = time.Now() {
		select {
		case <-a.memory.changed:
		case <-ctx.Done():
			return
		}
		if !beside.Sleep(ctx, max(rememberAfter, time.Until(last.Add(rememberEvery)))) {
			return
		}
		list, lost := a.members.Remembered(), a.memory.lost.Swap(false)
		if lost {
			written = nil
		}
		if err := a.forgotten.save(lost); err != nil {
			a.log.Warn().Err(err).Msg("after a restart, this agent may count forgotten members as down")
		}
		if slices.Equal(list, written) {
			continue
		}
		if err := a.state.SaveMembers(list); err != nil {
			if !failed {
				a.log.Warn().Err(err).Msg("after a restart, this agent finds its fleet by --join only")
			}
			failed = true
			beside.Signal(a.memory.changed)
			continue
		}
		written, failed = list, false
	}
}

// A host that is gone for good is forgotten by a directive: "It leaves every count" of hosts that are down. "It counts
// again when it is back": a member that hears that it is forgotten gives a newer directive. The directives spread by
// gossip, and each member has them on its disk.

// forgotten are the directives about members, as this agent has last seen them.
type forgotten struct {
	a *Agent
	// list is only used by the loop.
	list []membership.Broadcast
	// saving serialises saves; saved is what is on the disk.
	saving sync.Mutex
	saved  []membership.Broadcast
}

// recall gives the directives of the earlier life to the others again.
func (f *forgotten) recall() {
	list, err := f.a.state.LoadForgotten()
	if err != nil {
		f.a.log.Warn().Err(err).Msg("starting without the list of forgotten members")
	}
	for _, m := range list {
		n := membership.Broadcast{Member: m.Member, Name: m.Name, Directive: m.Directive}
		if m.By == f.a.self {
			n.Who = m.Who
		}
		if m.Member != f.a.self { // The others say so, if they do not know that this member is back.
			f.directAbout(n)
		}
	}
	f.list = slices.DeleteFunc(f.a.members.Forgotten(), f.saysThatIAmGone) // Gossip may have brought that already.
}

func (f *forgotten) saysThatIAmGone(n membership.Broadcast) bool {
	return n.Member == f.a.self && n.Directive.Until != 0
}

func (f *forgotten) directAbout(n membership.Broadcast) {
	if err := f.a.members.Broadcast(n); err != nil {
		f.a.log.Warn().Err(err).Str("name", n.Name).Msg("gossip does not carry a directive about a member")
	}
}

// Forget implements [control.Source].
func (s source) Forget(ctx context.Context, forget control.Forget) (done control.Forgot, err error) {
	if err := do(ctx, s.a, func() error { done, err = s.a.forgotten.forget(&forget); return err }); err != nil {
		return control.Forgot{}, err
	}
	if err := s.a.forgotten.save(false); err != nil {
		return done, fmt.Errorf("the member is forgotten, but this host may not know it after a restart: %w", err)
	}
	return done, nil
}

// forget gives a directive to forget the members of that name that are gone.
func (f *forgotten) forget(forget *control.Forget) (done control.Forgot, err error) {
	gone, lives := f.goneUnder(forget.Name)
	known := func(n membership.Broadcast) bool { return n.Name == forget.Name && n.Directive.Until != 0 }
	switch {
	case len(gone) > 0:
	case lives:
		return done, fmt.Errorf("%q is alive, and only a member that is gone can be forgotten: stop its agent first "+
			"(systemctl stop wanderd, on that host)", forget.Name)
	case slices.ContainsFunc(f.list, known):
		return control.Forgot{Already: true}, nil
	default:
		return done, fmt.Errorf("no member %q is gone, as far as this host knows: \"wanderd members\" lists those "+
			"that are", forget.Name)
	}
	for _, id := range gone {
		d := f.nextAbout(id, wire.ForEver)
		err := f.a.members.Broadcast(membership.Broadcast{
			Member: id, Name: forget.Name, Directive: d, Who: giverOn(f.a.cfg.Name, forget.User),
		})
		if err != nil {
			return done, err
		}
		done.Members = append(done.Members, id.String())
	}
	f.onNews()
	return done, nil
}

// goneUnder returns the members of that name that are gone, and of a roster those that are not here. lives is true if
// another one has that name.
func (f *forgotten) goneUnder(name string) (gone []wire.MemberID, lives bool) {
	for _, m := range f.a.members.All() {
		switch {
		case m.Name != name:
		case m.State == membership.StateFailed || m.State == membership.StateLeft:
			gone = append(gone, m.ID)
		default:
			lives = true
		}
	}
	for _, g := range f.a.gates {
		if id, absent := gate.Absent(g, name); absent && !slices.Contains(gone, id) && !f.a.members.IsForgotten(id) {
			gone = append(gone, id)
		}
	}
	return gone, lives
}

// nextAbout makes a directive about a member that is newer than all that this one knows.
func (f *forgotten) nextAbout(id wire.MemberID, until int64) wire.Directive {
	stamp := uint64(max(time.Unix(0, f.a.clock.Now().Wall).UnixMilli(), 1))
	for _, n := range f.a.members.Forgotten() {
		if n.Member == id {
			stamp = max(stamp, n.Directive.Stamp+1)
		}
	}
	return wire.Directive{Stamp: stamp, By: f.a.self, Until: until}
}

// onNews takes in what gossip reports of members that are forgotten, or are back.
func (f *forgotten) onNews() {
	list := f.a.members.Forgotten()
	if slices.Equal(list, f.list) {
		return
	}
	for _, n := range list {
		at := slices.IndexFunc(f.list, func(o membership.Broadcast) bool { return o.Member == n.Member })
		switch {
		case f.saysThatIAmGone(n):
			f.directAbout(membership.Broadcast{
				Member: f.a.self, Name: f.a.cfg.Name, Directive: f.nextAbout(f.a.self, 0),
			})
		case at >= 0 && f.list[at].Directive == n.Directive:
		case n.Directive.Until != 0:
			f.a.log.Warn().Str("name", n.Name).Str("peer", n.Member.Short()).Str("by", f.giverOf(&n)).
				Msg("a member is forgotten: while it is away, it counts as down no more")
		case at >= 0:
			f.a.log.Info().Str("name", n.Name).Str("peer", n.Member.Short()).
				Msg("a member that was forgotten is back, and counts again")
		}
	}
	f.list = list
	beside.Signal(f.a.memory.changed)
	for _, g := range f.a.gates {
		gate.LookAround(g)
	}
}

// giverOf returns the giver of a directive about a member: from its description, or the name of the member.
func (f *forgotten) giverOf(n *membership.Broadcast) string {
	if n.Who != "" {
		return n.Who
	}
	for _, m := range f.a.members.All() {
		if m.ID == n.Directive.By {
			return m.Name
		}
	}
	return n.Directive.By.Short()
}

// save writes the directives about members if they are not on the disk. lost is true if the disk may have lost
// them. It is safe for concurrent use.
func (f *forgotten) save(lost bool) error {
	f.saving.Lock()
	defer f.saving.Unlock()
	list := f.a.members.Forgotten()
	if slices.Equal(list, f.saved) && !lost {
		return nil
	}
	onDisk := make([]statedir.Forgotten, 0, len(list))
	for _, n := range list {
		onDisk = append(onDisk, statedir.Forgotten{Member: n.Member, Name: n.Name, Directive: n.Directive, Who: n.Who})
	}
	if err := f.a.state.SaveForgotten(onDisk); err != nil {
		return err
	}
	f.saved = list
	return nil
}

// members lists the members that are forgotten, for operators.
func (f *forgotten) members() (list []control.ForgottenMember) {
	for _, n := range f.list {
		if n.Directive.Until != 0 {
			list = append(list, control.ForgottenMember{
				Name: n.Name, Member: n.Member.String(), By: f.giverOf(&n),
				Since: time.UnixMilli(int64(n.Directive.Stamp)),
			})
		}
	}
	return list
}
