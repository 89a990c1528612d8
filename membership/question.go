package membership

import (
	"context"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/wire"
)

// A question is the caller's frame, its answer the acceptor's frame; the agent decides what they say:
//
//	question 0 +---------------+      answer 0 +---------------+
//	           | asker      16 |               | signature  64 |
//	        16 +---------------+            64 +---------------+
//	           | signature  64 |               | content       |
//	        80 +---------------+               +---------------+
//	           | content       |
//	           +---------------+
//
// Both signatures are over the nonces of the connection and the identity of the other side, so neither frame means
// anything on another connection: a recorded frame is neither answered nor taken for an answer. Only members of the
// view are answered, and one question of each at a time.
const (
	answerOverhead = ed25519.SignatureSize

	// answerTime is how long the making and sending of an answer may take.
	answerTime = 5 * time.Second

	questionContext = "wanderd question v1"
	answerContext   = "wanderd answer v1"
)

var errNoAnswer = errors.New("there is no answer to it")

// Answer makes the answer to a question of another member; nil means no answer. It is called on a goroutine of its own,
// and must return when ctx is done. It must not keep question.
type Answer func(ctx context.Context, asker *Member, question []byte) []byte

// statementTo returns the statement to sign, which binds the content to a member and to the connection with these
// nonces.
func statementTo(to wire.MemberID, nonces, content []byte) []byte {
	digest := sha512.Sum512(slices.Concat(nonces, to[:], content))
	return digest[:]
}

// answerQuestion answers the question that has come on g, if its sender is a member.
func (t *gossipTransport) answerQuestion(g *streams.Conn) error {
	if len(g.Unread) < streams.QuestionOverhead || t.cfg.Answer == nil {
		return packets.ErrMalformed
	}
	id := wire.MemberID(g.Unread[:len(wire.MemberID{})])
	signature, content := g.Unread[len(id):streams.QuestionOverhead], g.Unread[streams.QuestionOverhead:]
	asker, ok := t.member(id)
	switch {
	case !ok:
		return admission.ErrNotMember
	case !identity.IsSigned(asker.Key, statementTo(t.me.ID, g.Nonces, content), signature, questionContext):
		return identity.ErrForged
	}
	if _, busy := t.asking.LoadOrStore(id, true); busy {
		return streams.ErrBusy
	}
	ctx, cancel := context.WithTimeout(t.closed, answerTime)
	defer cancel()
	text := t.cfg.Answer(ctx, asker, content)
	t.asking.Delete(id) // before the answer leaves, because a member that has the answer may ask again at once
	if text == nil {
		return errNoAnswer
	}
	_ = g.SetDeadline(time.Now().Add(answerTime))
	// an asker that has gone needs no answer
	_, _ = g.Write(append(identity.Sign(t.me.Key, statementTo(id, g.Nonces, text), answerContext), text...))
	return nil
}

// Ask asks a member, and returns its answer, of at most most bytes. A member that is asked twice at the same time
// answers once. The error is why there is no answer; ctx must have a deadline.
func (m *Membership) Ask(ctx context.Context, to *Member, question []byte, most int) ([]byte, error) {
	if len(question) > streams.MaxQuestion {
		return nil, fmt.Errorf("a question of %d bytes: %w", len(question), streams.ErrTooLong)
	}
	deadline, _ := ctx.Deadline()
	g, err := m.transport.streams.Dial(to.Addr, deadline, streams.ForQuestion)
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = g.Close() })
	defer stop()
	me := m.transport.me
	if _, err := g.Write(
		slices.Concat(me.ID[:], identity.Sign(me.Key, statementTo(to.ID, g.Nonces, question), questionContext),
			question)); err != nil {
		return nil, err
	}
	g.Most = answerOverhead + most
	if err := g.Receive(); err != nil {
		return nil, err
	}
	if len(g.Unread) < answerOverhead {
		return nil, packets.ErrMalformed
	}
	signature, content := g.Unread[:answerOverhead], g.Unread[answerOverhead:]
	if !identity.IsSigned(to.Key, statementTo(me.ID, g.Nonces, content), signature, answerContext) {
		return nil, identity.ErrForged
	}
	return content, nil
}
