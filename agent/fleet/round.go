package fleet

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

const (
	// answerWithin is how long the members have to answer. After that, a member that was named as the holder of a token
	// has holderWithin. Together they are two seconds.
	answerWithin = 1500 * time.Millisecond
	holderWithin = 500 * time.Millisecond
	// atOnce is how many members are asked at a time. Each takes a file descriptor.
	atOnce = 256
)

// Members are the members that can be asked.
type Members interface {
	// All returns all known members, including those that left or failed.
	All() []membership.Member
	Ask(ctx context.Context, to *membership.Member, question []byte, most int) ([]byte, error)
}

// Fleet asks the members of a fleet, one round of questions at a time. Its methods are safe for concurrent use.
type Fleet struct {
	self    wire.MemberID
	host    Host
	members Members
	// describe makes a member's entry.
	describe func(*membership.Member) control.Member
	// turn serialises rounds; its capacity is one. It is no mutex, so that a waiting caller can give up.
	turn chan struct{}
	// seen is where each token was last seen; only the round that has the turn uses it.
	seen map[place]sighting
	// homes are the homes of tokens that are called, as this host chooses them.
	homes map[place][]control.Guardian
}

// New returns the fleet of a host, which is the member self.
func New(self wire.MemberID, host Host, members Members, describe func(*membership.Member) control.Member) *Fleet {
	return &Fleet{
		self: self, host: host, members: members, describe: describe, turn: make(chan struct{}, 1),
		seen: make(map[place]sighting), homes: make(map[place][]control.Guardian),
	}
}

// Status asks all members for their status, and the holders of the tokens once more.
func (f *Fleet) Status(ctx context.Context) (control.Fleet, error) {
	if err := f.begin(ctx); err != nil {
		return control.Fleet{}, err
	}
	defer f.end()
	document := control.Fleet{Asked: time.Now()}
	members := f.living()
	replies := round(ctx, f, members, question{Subject: aboutStatus}, f.host.Status, parseStatus)
	document.Members = make([]control.FleetMember, len(replies))
	for i, r := range replies {
		document.Members[i] = control.FleetMember{
			Member: f.describe(&members[i]), Missing: r.missing, Status: r.document,
		}
		if r.document != nil {
			f.learn(r.document)
		}
		if r.document != nil && members[i].ID == f.self {
			f.learnHomes(r.document)
		}
	}
	document.Now = f.find(ctx, members)
	document.Took = control.Duration(time.Since(document.Asked).Round(time.Millisecond))
	return document, nil
}

// History asks all members for what they have run.
func (f *Fleet) History(ctx context.Context, which control.Which) (control.FleetHistory, error) {
	if err := f.begin(ctx); err != nil {
		return control.FleetHistory{}, err
	}
	defer f.end()
	document := control.FleetHistory{Asked: time.Now()}
	members := f.living()
	own := func(ctx context.Context) (control.History, error) {
		h, err := f.host.History(ctx)
		return which.From(h), err
	}
	replies := round(ctx, f, members, question{Subject: aboutHistory, Which: which}, own, parseHistory)
	document.Members = make([]control.MemberHistory, len(replies))
	for i, r := range replies {
		document.Members[i] = control.MemberHistory{
			Member: f.describe(&members[i]), Missing: r.missing, History: r.document,
		}
	}
	document.Took = control.Duration(time.Since(document.Asked).Round(time.Millisecond))
	return document, nil
}

// Now asks the last known holder of each token that this host knows of.
func (f *Fleet) Now(ctx context.Context) (control.Now, error) {
	if err := f.begin(ctx); err != nil {
		return control.Now{}, err
	}
	defer f.end()
	own, err := f.host.Status(ctx)
	if err != nil {
		return control.Now{}, err
	}
	f.learn(&own)
	f.learnHomes(&own)
	return f.find(ctx, f.living()), nil
}

// begin waits for the turn.
func (f *Fleet) begin(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errors.New("other questions to the fleet take too long: try again")
	}
}

func (f *Fleet) end() { <-f.turn }

// living returns the members that should answer, by name: all but those that left.
func (f *Fleet) living() []membership.Member {
	all := slices.DeleteFunc(f.members.All(), func(m membership.Member) bool { return m.State == membership.StateLeft })
	slices.SortFunc(all, func(a, b membership.Member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), a.ID.Compare(b.ID))
	})
	return all
}

// reply is what a member has answered: a document, or why there is none.
type reply[T any] struct {
	document *T
	missing  string
}

// round asks all members at the same time, this host included, and waits until each has answered or its time is over.
func round[T any](
	ctx context.Context, f *Fleet, members []membership.Member, q question,
	own func(context.Context) (T, error), parse func([]byte, *membership.Member) (*T, error),
) []reply[T] {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	q.Most = share(len(members))
	replies := make([]reply[T], len(members))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range members {
		m := &members[i]
		if m.State == membership.StateFailed {
			replies[i].missing = "failed"
			continue
		}
		all.Go(func() {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
			case <-ctx.Done():
			}
			document, err := oneReply(ctx, f, m, q, own, parse)
			if err != nil {
				replies[i].missing = why(ctx, err)
				return
			}
			replies[i].document = document
		})
	}
	all.Wait()
	return replies
}

// oneReply asks one member, or this host.
func oneReply[T any](
	ctx context.Context, f *Fleet, m *membership.Member, q question,
	own func(context.Context) (T, error), parse func([]byte, *membership.Member) (*T, error),
) (*T, error) {
	if m.ID == f.self {
		document, err := own(ctx)
		return &document, err
	}
	b, err := f.members.Ask(ctx, m, q.bytes(), q.Most)
	if err != nil {
		return nil, err
	}
	return parse(b, m)
}

// why returns in a few words why a member has not answered.
func why(ctx context.Context, err error) string {
	var timeout net.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return "did not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, fs.ErrClosed):
		return "hung up: it may have another version, or not know this host yet"
	}
	return err.Error()
}
