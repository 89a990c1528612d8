package membership

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
	"github.com/wanderd/wanderd/wire"
)

// echo answers a question with its asker.
func echo(_ context.Context, asker *Member, question []byte) []byte {
	return append([]byte(asker.Name+" asks: "), question...)
}

func answering(a Answer) func(*Config) { return func(c *Config) { c.Answer = a } }

// ask asks host i, as h knows it.
func (h *host) ask(t *testing.T, i int, question string, most int) (string, error) {
	t.Helper()
	to, ok := h.view().Lookup(wire.MemberIDOf(peertest.KeyOf(i)))
	if !ok {
		t.Fatalf("host%d is not known", i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	answer, err := h.Ask(ctx, to, []byte(question), most)
	return string(answer), err
}

func TestAMemberAnswersTheQuestionsOfTheOthers(t *testing.T) {
	for name, secret := range map[string][]byte{"sealed": secretOne, "in the clear": nil} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				with := func(c *Config) { c.Secrets = peertest.SecretsOf(secret) }
				hosts := []*host{f.start(1, with, answering(echo)), f.start(2, with)}
				f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2))
				for range 3 {
					if got, err := hosts[1].ask(t, 1, "who runs?", 100); got != "host2 asks: who runs?" || err != nil {
						t.Errorf("%q, %v", got, err)
					}
				}
				if got, err := hosts[1].ask(t, 1, "who runs?", len("host2 asks")); !errors.Is(err, streams.ErrTooLong) {
					t.Errorf("an answer that is too long: %q, %v", got, err)
				}
				if got, err := hosts[1].ask(t, 1, string(make([]byte, streams.MaxQuestion+1)), 100); !errors.Is(err,
					streams.ErrTooLong) {
					t.Errorf("a question that is too long: %q, %v", got, err)
				}
				if got, err := hosts[0].ask(t, 2, "who runs?", 100); err == nil {
					t.Errorf("one that answers nothing: %q", got)
				}
				if s := hosts[0].Stats(); s != (Stats{}) {
					t.Errorf("counted %+v", s)
				}
			})
		})
	}
}

func TestOneQuestionOfAMemberIsAnsweredAtATime(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		slow := func(ctx context.Context, asker *Member, question []byte) []byte {
			time.Sleep(time.Second)
			return echo(ctx, asker, question)
		}
		hosts := []*host{f.start(1, answering(slow)), f.start(2), f.start(3)}
		f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2, 3))
		first := make(chan error)
		go func() {
			_, err := hosts[1].ask(t, 1, "first", 100)
			first <- err
		}()
		time.Sleep(500 * time.Millisecond)
		if got, err := hosts[1].ask(t, 1, "second", 100); err == nil {
			t.Errorf("the second question of host2: %q", got)
		}
		if got, err := hosts[2].ask(t, 1, "mine", 100); got != "host3 asks: mine" || err != nil {
			t.Errorf("the question of host3: %q, %v", got, err)
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if got, err := hosts[1].ask(t, 1, "third", 100); got != "host2 asks: third" || err != nil {
			t.Errorf("the third question of host2: %q, %v", got, err)
		}
	})
}

func TestAShutdownDoesNotWaitForAnAnswer(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		stuck := func(ctx context.Context, _ *Member, _ []byte) []byte {
			<-ctx.Done()
			return nil
		}
		hosts := []*host{f.start(1, answering(stuck)), f.start(2)}
		f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2))
		asked := make(chan error)
		go func() {
			_, err := hosts[1].ask(t, 1, "who runs?", 100)
			asked <- err
		}()
		time.Sleep(100 * time.Millisecond)
		begun := time.Now()
		if err := hosts[0].Shutdown(); err != nil || time.Since(begun) > 100*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if err := <-asked; err == nil {
			t.Error("an answer came from nowhere")
		}
	})
}

func TestAnAnswerOfAnotherMemberIsNotTaken(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := []*host{f.start(1), f.start(2)}
		f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2))
		to, _ := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(2)))
		elsewhere := *to
		elsewhere.Addr = peertest.AddrOf(3)
		// Host 3 answers what host 2 is asked.
		end := f.net.Endpoint(elsewhere.Addr)
		tr := &gossipTransport{
			cfg: &Config{Answer: echo}, me: &admission.Introducer{ID: to.ID, Key: peertest.PrivateOf(3)},
			closed: t.Context(),
			member: hosts[0].view().Lookup,
		}
		go func() {
			conn, err := end.Streams.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			g := &streams.Conn{Conn: conn, End: streams.New(streams.Config{Seal: newTestSeal(t, secretOne)})}
			if err := errors.Join(g.AsAcceptor(), g.Receive(), tr.answerQuestion(g)); err != nil {
				t.Error(err)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if got, err := hosts[0].Ask(ctx, &elsewhere, []byte("who runs?"), 100); !errors.Is(err, identity.ErrForged) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// An outsider that has the secret, a recorded question, and a question for another member get not one byte back after
// the greeting, which is shorter than what it answers.
func TestAQuestionThatIsNotAMembersOwnIsNotAnswered(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := []*host{f.start(1, answering(echo)), f.start(2)}
		f.within(5*time.Second, "they see each other", allSee(hosts, 1, 2))
		asker, outsider := introducerOf(2), introducerOf(9)
		one := hosts[0].peers.Self
		text := []byte("who runs?")
		for name, c := range map[string]struct {
			frame    func(nonces []byte) []byte
			answered bool
		}{
			"its own": {func(n []byte) []byte {
				return slices.Concat(asker.ID[:], signTo(asker, questionContext, one, n, text), text)
			}, true},
			"a recorded one": {func(n []byte) []byte {
				return slices.Concat(asker.ID[:], signTo(asker, questionContext, one, make([]byte, len(n)), text), text)
			}, false},
			"one for another member": {func(n []byte) []byte {
				return slices.Concat(asker.ID[:], signTo(asker, questionContext, asker.ID, n, text), text)
			}, false},
			"an answer": {func(n []byte) []byte {
				return slices.Concat(asker.ID[:], signTo(asker, answerContext, one, n, text), text)
			}, false},
			"an outsider's": {func(n []byte) []byte {
				return slices.Concat(outsider.ID[:], signTo(outsider, questionContext, one, n, text), text)
			}, false},
			"an outsider's, in a member's name": {func(n []byte) []byte {
				return slices.Concat(asker.ID[:], signTo(outsider, questionContext, one, n, text), text)
			}, false},
			"a short one": {func([]byte) []byte { return asker.ID[:] }, false},
			"nothing":     {func([]byte) []byte { return nil }, false},
		} {
			conn, err := hosts[1].end.Streams.Dial(t.Context(), peertest.AddrOf(1))
			if err != nil {
				t.Fatal(err)
			}
			g := &streams.Conn{Conn: conn, End: hosts[1].transport.streams}
			g.IsFor(streams.ForQuestion)
			if err := g.AsCaller(); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Write(c.frame(g.Nonces)); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if b, _ := io.ReadAll(conn); (len(b) > 0) != c.answered {
				t.Errorf("%s: %d bytes came back", name, len(b))
			}
			_ = conn.Close()
		}
		if sent, back := streams.PreambleSize+streams.CallerNonce, streams.AcceptorNonce+
			streams.ProofSize; back > sent {
			t.Errorf("%d bytes of an outsider bring %d back", sent, back)
		}
	})
}

// A member that has an answer may ask again at once: when the answer is written, its question no longer counts as being
// answered.
func TestAfterAnAnswerTheNextQuestionIsAnswered(t *testing.T) {
	asker, tr := introducerOf(2), answeringHost2(t)
	busy := 0
	conn := &written{onWrite: func() {
		tr.asking.Range(func(any, any) bool {
			busy++
			return true
		})
	}}
	nonces := make([]byte, streams.CallerNonce+streams.AcceptorNonce)
	g := &streams.Conn{
		Conn: conn, End: silentEnd(t), Nonces: nonces,
		Unread: slices.Concat(asker.ID[:], signTo(asker, questionContext, tr.me.ID, nonces, []byte("who runs?")),
			[]byte("who runs?")),
	}
	if err := tr.answerQuestion(g); err != nil || conn.Len() == 0 || busy != 0 {
		t.Errorf("%v, %d bytes written, while %d questions were being answered", err, conn.Len(), busy)
	}
}

// answeringHost2 is the transport of host 1, which answers host 2.
func answeringHost2(t testing.TB) *gossipTransport {
	t.Helper()
	two := wire.MemberIDOf(peertest.KeyOf(2))
	return &gossipTransport{
		cfg: &Config{Answer: echo}, me: introducerOf(1), closed: t.Context(),
		member: func(id wire.MemberID) (*Member, bool) {
			return &Member{ID: two, Name: "host2", Key: peertest.KeyOf(2)}, id == two
		},
	}
}

// silentEnd is an endpoint without a secret.
func silentEnd(t testing.TB) *streams.Endpoint {
	return streams.New(streams.Config{Seal: newTestSeal(t, nil)})
}

// signTo returns a host's signature on a message to another one.
func signTo(by *admission.Introducer, use string, to wire.MemberID, nonces, content []byte) []byte {
	return identity.Sign(by.Key, statementTo(to, nonces, content), use)
}

// written is a connection that records what is written.
type written struct {
	net.Conn
	bytes.Buffer
	onWrite func()
}

func (w *written) Write(b []byte) (int, error) {
	if w.onWrite != nil {
		w.onWrite()
	}
	return w.Buffer.Write(b)
}
func (w *written) Read(b []byte) (int, error)       { return w.Buffer.Read(b) }
func (w *written) SetDeadline(time.Time) error      { return nil }
func (w *written) SetReadDeadline(time.Time) error  { return nil }
func (w *written) SetWriteDeadline(time.Time) error { return nil }

// Whatever the frame of a question contains: unless a member has signed it for this connection, it is not answered.
func FuzzQuestion(f *testing.F) {
	asker, tr := introducerOf(2), answeringHost2(f)
	nonces, text := make([]byte, streams.CallerNonce+streams.AcceptorNonce), []byte("who runs?")
	genuine := slices.Concat(asker.ID[:], signTo(asker, questionContext, tr.me.ID, nonces, text), text)
	f.Add(genuine)
	f.Add(genuine[:streams.QuestionOverhead])
	f.Add(asker.ID[:])
	f.Fuzz(func(t *testing.T, frame []byte) {
		conn := &written{}
		g := &streams.Conn{Conn: conn, End: silentEnd(t), Nonces: nonces, Unread: frame}
		err := tr.answerQuestion(g)
		if answered := conn.Len() > 0; answered != bytes.Equal(frame, genuine) || answered != (err == nil) {
			t.Errorf("%d bytes came back for %x: %v", conn.Len(), frame, err)
		}
	})
}
