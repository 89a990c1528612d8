package sim

import (
	"iter"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Watcher sees everything that occurs, in order. Checkers, traces and measurements are watchers.
type Watcher interface {
	// Watch is called with o after o occurred and before anything else does. It must keep nothing of o, whose memory is
	// used again. An error ends the run: a rule has been broken.
	Watch(c *Cluster, o *Occurrence) error
}

// WatcherFunc is a function as a [Watcher].
type WatcherFunc func(c *Cluster, o *Occurrence) error

// Watch calls f.
func (f WatcherFunc) Watch(c *Cluster, o *Occurrence) error { return f(c, o) }

// EachMember returns a watcher that keeps a state for each member, zero at first. It calls watch with the member's
// state for each occurrence at that member.
func EachMember[T any](watch func(me *T, c *Cluster, o *Occurrence) error) Watcher {
	var members []T
	return WatcherFunc(func(c *Cluster, o *Occurrence) error {
		switch o.Kind {
		case Lost, Duplicated, Played, Cut, Healed:
			return nil
		case Stepped, Ignored, Came, Crashed, RunGone, Departed, Paused, Slept:
		}
		if missing := o.Member + 1 - len(members); missing > 0 {
			members = append(members, make([]T, missing)...)
		}
		return watch(&members[o.Member], c, o)
	})
}

// EachLife is like EachMember, but forgets a member's state when its process has ended.
func EachLife[T any](watch func(me *T, c *Cluster, o *Occurrence) error) Watcher {
	return EachMember(func(me *T, c *Cluster, o *Occurrence) error {
		err := watch(me, c, o)
		if o.Ends() {
			*me = *new(T)
		}
		return err
	})
}

// OccurrenceKind is the kind of an occurrence.
type OccurrenceKind uint8

const (
	// Stepped means that Member's machine took Event, and that Effects are carried out. All of them are, unless Of is
	// greater than their number: then the member crashes next.
	Stepped OccurrenceKind = iota + 1
	// Ignored means that Member's shell dropped Msg because the machine did not expect it.
	Ignored
	// Lost means that the network lost Msg, or nobody was there to receive it.
	Lost
	// Duplicated means that the network delivers another copy of Msg.
	Duplicated
	// Played means that an adversary or a script sends Msg. The adversary has recorded it.
	Played
	// Came means that Member was started, for the first time or after a crash.
	Came
	// Crashed means that Member's process has ended without telling anybody.
	Crashed
	// RunGone means that the run of Member has ended too; its process crashed before.
	RunGone
	// Departed means that Member has left in good order.
	Departed
	// Paused means that Member stands still, but its host goes on.
	Paused
	// Slept means that Member's host is suspended.
	Slept
	// Cut means that the network is parted in two.
	Cut
	// Healed means that the network is whole again.
	Healed
)

// String returns the kind as a verb.
func (k OccurrenceKind) String() string {
	return [...]string{
		"", "stepped", "ignored", "lost", "duplicated", "played", "came", "crashed", "lost a run", "departed", "paused",
		"slept", "cut", "healed",
	}[k]
}

// Occurrence is one thing that occurred. Kind determines which fields have a meaning.
type Occurrence struct {
	Kind   OccurrenceKind
	At     policy.Time
	Member int
	Event  *policy.Event
	// Expected is the result of Expects for the message of a Received, before the machine took it.
	Expected bool
	// Due reports whether a Woke came because its time had come.
	Due bool
	// AtOnce reports whether a Saved comes at the same moment as the request to save.
	AtOnce bool
	// Demanded reports whether a Finished ends a run for a caller, in a gate whose members also have an operation of
	// their own.
	Demanded bool
	Effects  []policy.Effect
	Of       int
	// Forgot reports whether a member that Came finds nothing of what it had saved.
	Forgot bool
	// Outlived reports whether a run goes on after its member has Crashed, until a RunGone.
	Outlived bool
	// OneWay reports whether, after a Cut, messages of one side still arrive on the other.
	OneWay bool
	Msg    *wire.Message
}

// Completes reports whether this is a step of which all effects were carried out. Then the machine's status counts;
// otherwise the member crashes next.
func (o *Occurrence) Completes() bool { return o.Kind == Stepped && o.Of == len(o.Effects) }

// Who returns the name of Member.
func (o *Occurrence) Who() string { return MemberName(o.Member) }

// On reports whether this is a step with an event of that kind.
func (o *Occurrence) On(kind policy.EventKind) bool { return o.Kind == Stepped && o.Event.Kind == kind }

// Did yields the effects of that kind.
func (o *Occurrence) Did(kind policy.EffectKind) iter.Seq[*policy.Effect] {
	return func(yield func(*policy.Effect) bool) {
		for i := range o.Effects {
			if e := &o.Effects[i]; e.Kind == kind && !yield(e) {
				return
			}
		}
	}
}

// Operations yields the runs that begin, except runs for callers where the members also have an operation of their own.
func (o *Occurrence) Operations() iter.Seq[*policy.Effect] {
	return func(yield func(*policy.Effect) bool) {
		for e := range o.Did(policy.Run) {
			if !e.Demanded && !yield(e) {
				return
			}
		}
	}
}

// EndsOperation reports whether, as the shell sees it, a run ends that Operations has yielded.
func (o *Occurrence) EndsOperation() bool { return o.On(policy.Finished) && !o.Demanded }

// Does reports whether there is an effect of that kind.
func (o *Occurrence) Does(kind policy.EffectKind) bool {
	for range o.Did(kind) {
		return true
	}
	return false
}

// Ends reports whether a member's process ends.
func (o *Occurrence) Ends() bool { return o.Kind == Crashed || o.Kind == Departed }

// EndsRun reports whether a member's run ends with this, if there is one.
func (o *Occurrence) EndsRun() bool {
	return o.Kind == RunGone || o.Ends() && !o.Outlived || o.Kind == Stepped && o.Event.Kind == policy.Finished
}

func (c *Cluster) tell(o Occurrence) {
	if len(c.watchers) == 0 {
		return
	}
	o.At = c.now
	c.seen = o
	for _, w := range c.watchers {
		if err := w.Watch(c, &c.seen); err != nil && c.failure == nil {
			c.failure = err
		}
	}
}
