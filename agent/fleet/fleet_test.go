package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/wire"
)

// world is a fleet of hosts in one process, which answer so that a test can see how they are asked.
type world struct {
	hosts map[wire.MemberID]*host
	order []wire.MemberID

	mu sync.Mutex
	// asked counts the questions to each host.
	asked map[string]int
}

// host is a member that answers after a delay, or not at all.
type host struct {
	name    string
	status  control.Status
	history control.History
	state   membership.State
	delay   time.Duration
	err     error
	// onAsked changes the host's answer.
	onAsked func()
}

func (h *host) Status(context.Context) (control.Status, error)   { return h.status, nil }
func (h *host) History(context.Context) (control.History, error) { return h.history, nil }

func idOf(i int) wire.MemberID { return wire.MemberID{byte(i >> 8), byte(i)} }

// inWorld runs a test with n hosts, of which host 1 asks, in virtual time.
func inWorld(t *testing.T, n int, test func(t *testing.T, w *world, f *Fleet)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		w := &world{hosts: make(map[wire.MemberID]*host), asked: make(map[string]int)}
		for i := n; i > 0; i-- {
			h := &host{name: fmt.Sprintf("m%d", i), delay: time.Millisecond}
			h.status = control.Status{
				Name: "byzantine", Member: "ff", Version: h.name, Gates: []control.Gate{{Name: "sync"}},
			}
			w.hosts[idOf(i)] = h
			w.order = append(w.order, idOf(i))
		}
		test(t, w, New(idOf(1), w.hosts[idOf(1)], w, func(m *membership.Member) control.Member {
			return control.Member{Name: m.Name, Member: m.ID.String(), State: m.State.String(), Self: m.ID == idOf(1)}
		}))
	})
}

func (w *world) All() []membership.Member {
	var all []membership.Member
	for _, id := range w.order {
		all = append(all, membership.Member{ID: id, Name: w.hosts[id].name, State: w.hosts[id].state})
	}
	return all
}

func (w *world) Ask(ctx context.Context, to *membership.Member, asked []byte, most int) ([]byte, error) {
	h := w.hosts[to.ID]
	select {
	case <-time.After(h.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[h.name]++
	if h.onAsked != nil {
		h.onAsked()
	}
	answer := Answer(ctx, h, asked, true)
	if answer == nil || len(answer) > most {
		return nil, errors.New("no answer")
	}
	return answer, h.err
}

// holds makes host i hold the token, and passed makes it have passed it on.
func (w *world) holds(i int, seq uint64, running bool) {
	w.whereabouts(i, control.Whereabouts{
		Holding: true, Holder: idOf(i).String(), HolderName: w.hosts[idOf(i)].name, Seq: seq,
	})
	w.hosts[idOf(i)].status.Gates[0].Running = running
}

func (w *world) passed(i, to int, seq uint64) {
	w.whereabouts(i, control.Whereabouts{
		Holder: idOf(to).String(), HolderName: w.hosts[idOf(to)].name, HolderSince: time.Now(), Seq: seq,
	})
	w.hosts[idOf(i)].status.Gates[0].Running = false
}

// calls makes host 1 choose homes.
func (w *world) calls(homes ...int) {
	c := &control.Called{}
	for _, home := range homes {
		c.Homes = append(c.Homes, control.Guardian{Member: idOf(home).String(), Name: w.hosts[idOf(home)].name})
	}
	w.hosts[idOf(1)].status.Gates[0].Called = c
}

func (w *world) whereabouts(i int, at control.Whereabouts) {
	w.hosts[idOf(i)].status.Gates[0].Whereabouts = at
}

func TestAllMembersAreAskedAtOnceAndThoseThatDoNotAnswerAreNamed(t *testing.T) {
	inWorld(t, 300, func(t *testing.T, w *world, f *Fleet) {
		w.hosts[idOf(2)].delay = time.Hour
		w.hosts[idOf(3)].err = errors.New("broken")
		w.hosts[idOf(4)].state = membership.StateFailed
		w.hosts[idOf(5)].state = membership.StateLeft
		w.hosts[idOf(6)].status.Gates = make([]control.Gate, identity.MaxGates+identity.MaxOnDemand+1)
		begun := time.Now()
		got, err := f.Status(t.Context())
		if took := time.Since(begun); err != nil || took > answerWithin+holderWithin {
			t.Errorf("%v after %v", err, took)
		}
		missing := map[string]string{}
		var names []string
		for _, m := range got.Members {
			names = append(names, m.Name)
			switch {
			case m.Missing != "":
				missing[m.Name] = m.Missing
			case m.Self:
			case m.Status.Name != m.Name || m.Status.Member != m.Member.Member:
				t.Errorf("%s answers for %s", m.Name, m.Status.Name)
			case m.Status.Version != m.Name:
				t.Errorf("%s has the answer of %s", m.Name, m.Status.Version)
			}
		}
		if want := map[string]string{
			"m2": "did not answer in time", "m3": "broken", "m4": "failed", "m6": "it says that it has 80 gates",
		}; !cmp.Equal(missing, want) {
			t.Error(cmp.Diff(want, missing))
		}
		if !slices.IsSorted(names) || len(names) != 300-1 {
			t.Errorf("%d members: %q", len(names), names)
		}
		if w.asked["m1"] != 0 || w.asked["m4"] != 0 {
			t.Error("this host and the failed one were asked")
		}
	})
}

func TestTheHolderIsAskedUntilItSaysThatItHoldsTheToken(t *testing.T) {
	for _, c := range []struct {
		name     string
		scenario func(w *world)
		want     control.Holder
	}{
		{"this host", func(w *world) { w.holds(1, 10, true) }, control.Holder{Name: "m1", Seq: 10, Running: true}},
		{
			"the one to which it was passed", func(w *world) { w.passed(1, 2, 10); w.holds(2, 11, false) },
			control.Holder{Name: "m2", Seq: 11},
		},
		{
			"after some more hops", func(w *world) {
				w.passed(1, 2, 10)
				w.passed(2, 3, 11)
				w.passed(3, 4, 12)
				w.holds(4, 13, true)
			}, control.Holder{Name: "m4", Seq: 13, Running: true},
		},
		{
			"while it is on its way", func(w *world) {
				w.passed(1, 2, 10)
				w.passed(2, 3, 11)
				w.passed(3, 4, 5) // m3 does not have it yet
				asked := 0
				w.hosts[idOf(3)].onAsked = func() {
					if asked++; asked == 3 {
						w.holds(3, 12, false)
					}
				}
			}, control.Holder{Name: "m3", Seq: 12},
		},
		{
			"never got it", func(w *world) { w.passed(1, 2, 10) },
			control.Holder{Name: "m2", Seq: 10, Missing: "the token was on its way to it"},
		},
		{
			"does not answer", func(w *world) { w.passed(1, 2, 10); w.hosts[idOf(2)].delay = time.Hour },
			control.Holder{Name: "m2", Seq: 10, Missing: "did not answer in time"},
		},
		{
			"a home knows it", func(w *world) { w.calls(3, 4); w.passed(3, 2, 10); w.holds(2, 10, true) },
			control.Holder{Name: "m2", Seq: 10, Running: true},
		},
		{
			"the second home knows it", func(w *world) {
				w.calls(3, 4)
				w.hosts[idOf(3)].delay = time.Hour
				w.passed(4, 2, 10)
				w.holds(2, 10, false)
			}, control.Holder{Name: "m2", Seq: 10},
		},
		{
			"a home knows who revived it", func(w *world) {
				w.passed(1, 2, 10)
				w.calls(3, 4)
				w.hosts[idOf(2)].delay = time.Hour
				w.holds(3, 11, false)
			}, control.Holder{Name: "m3", Seq: 11},
		},
		{
			"no home knows it", func(w *world) { w.calls(3, 4) },
			control.Holder{Missing: "no home knows of a token; if there is none, it is made when it is called"},
		},
		{
			"no home answers", func(w *world) {
				w.calls(3, 4)
				w.hosts[idOf(3)].delay, w.hosts[idOf(4)].delay = time.Hour, time.Hour
			}, control.Holder{Missing: "no home answers"},
		},
		{
			"has left", func(w *world) { w.passed(1, 2, 10); w.hosts[idOf(2)].state = membership.StateLeft },
			control.Holder{Name: "m2", Seq: 10, Missing: "is no member any more"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, 5, func(t *testing.T, w *world, f *Fleet) {
				c.scenario(w)
				begun := time.Now()
				got, err := f.Now(t.Context())
				if err != nil || len(got.Tokens) != 1 || time.Since(begun) > holderWithin {
					t.Fatalf("%+v, %v, after %v", got, err, time.Since(begun))
				}
				c.want.Gate, c.want.Member, got.Tokens[0].Since = "sync", got.Tokens[0].Member, time.Time{}
				if diff := cmp.Diff(c.want, got.Tokens[0]); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A host that watches the token asks the last holder that it knows, and not every member that has had the token since.
func TestASearchBeginsWhereTheLastOneEnded(t *testing.T) {
	inWorld(t, 9, func(t *testing.T, w *world, f *Fleet) {
		w.passed(1, 2, 10)
		for i := 2; i < 9; i++ {
			w.holds(i, uint64(9+i), false)
			if got, err := f.Now(t.Context()); err != nil || got.Tokens[0].Name != w.hosts[idOf(i)].name {
				t.Errorf("m%d holds it: %+v, %v", i, got, err)
			}
			w.passed(i, i+1, uint64(9+i))
		}
		for name, n := range w.asked {
			if n > 2 {
				t.Errorf("%s was asked %d times", name, n)
			}
		}
	})
}

// A run that has begun since a member answered is known, because the holder is asked last.
func TestTheRunningHostIsFoundAfterAllHaveAnswered(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world, f *Fleet) {
		w.holds(2, 10, false)
		asked := 0
		w.hosts[idOf(2)].onAsked = func() {
			if asked++; asked == 2 {
				w.holds(2, 10, true)
			}
		}
		got, err := f.Status(t.Context())
		if err != nil || !got.Tokens[0].Running {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestTheHistoryOfAFleetHasTheChosenRunsOfEachMember(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world, f *Fleet) {
		at := time.Now().Round(0).UTC()
		for _, h := range w.hosts {
			h.history = control.History{Gates: []control.GateHistory{
				{Name: "sync", Runs: []history.Run{
					{Start: at.Add(-time.Hour), End: at, Seq: 1, Error: "old"},
					{Start: at, End: at, Seq: 2},
					{Start: at, End: at, Seq: 3, Error: h.name},
				}},
				{Name: "other"},
			}}
		}
		got, err := f.History(t.Context(), control.Which{Gate: "sync", Failed: true, Since: at})
		if err != nil || len(got.Members) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, m := range got.Members {
			want := &control.History{Gates: []control.GateHistory{
				{Name: "sync", Runs: []history.Run{{Start: at, End: at, Seq: 3, Error: m.Name}}},
			}}
			if diff := cmp.Diff(want, m.History); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestOneRoundIsAskedAtATime(t *testing.T) {
	inWorld(t, 2, func(t *testing.T, w *world, f *Fleet) {
		w.hosts[idOf(2)].delay = time.Second
		go func() { _, _ = f.Status(context.Background()) }()
		time.Sleep(time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if got, err := f.Now(ctx); err == nil {
			t.Errorf("%+v", got)
		}
		if _, err := f.Now(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// bigHistory has more runs than an answer has room for.
func bigHistory() control.History {
	var h control.History
	for _, name := range []string{"a", "b"} {
		g := control.GateHistory{Name: name}
		for i := range history.Keep {
			g.Runs = append(g.Runs, history.Run{Start: time.Unix(int64(i), 0).
				UTC(), Seq: uint64(i), Error: "exit status 1", Output: []string{strings.Repeat("x", 500)}})
		}
		h.Gates = append(h.Gates, g)
	}
	return h
}

func TestAnAnswerIsAsShortAsTheQuestionSays(t *testing.T) {
	for _, most := range []int{leastAnswer, 100 << 10, maxAnswer} {
		q := question{Subject: aboutHistory, Most: most}
		answer := Answer(t.Context(), &host{history: bigHistory()}, q.bytes(), true)
		var h control.History
		if err := json.Unmarshal(answer, &h); err != nil || len(answer) > most || len(answer) < most*8/10 {
			t.Fatalf("%d bytes of %d, %v", len(answer), most, err)
		}
		for _, g := range h.Gates {
			if len(g.Runs)+g.Omitted != history.Keep || g.Runs[len(g.Runs)-1].Seq != history.Keep-1 ||
				len(g.Runs[0].Output) == 0 {
				t.Errorf("%d runs to number %d, %d omitted", len(g.Runs), g.Runs[len(g.Runs)-1].Seq, g.Omitted)
			}
		}
	}
}

// A gate may have 64 tokens. A host that is asked beside a thousand others still answers: it says which it holds.
func TestAStatusLeavesOutWhatOthersHoldIfItIsTooLong(t *testing.T) {
	name := strings.Repeat("n", 64)
	var s control.Status
	for range 8 {
		g := control.Gate{Name: name, Slots: wire.MaxSlots}
		for k := range wire.MaxSlots {
			slot := control.Slot{Slot: k, State: "absent", Whereabouts: control.Whereabouts{
				Holding: k == 5, Holder: name, HolderName: name, Token: name, Seq: 9,
				Guardians: []control.Guardian{{Member: name, Name: name}},
				Called:    &control.Called{Queue: &control.Queue{Oldest: make([]control.Waiter, 9)}},
			}}
			g.Tokens = append(g.Tokens, slot)
		}
		s.Gates = append(s.Gates, g)
	}
	for _, members := range []int{2, 30, 1000} {
		q := question{Subject: aboutStatus, Most: share(members)}
		answer := Answer(t.Context(), &host{status: s}, q.bytes(), true)
		var got control.Status
		if err := json.Unmarshal(answer, &got); err != nil || len(got.Gates) != len(s.Gates) {
			t.Fatalf("%d members: %d bytes of %d, %v", members, len(answer), q.Most, err)
		}
		for _, g := range got.Gates {
			held := slices.IndexFunc(g.Tokens, func(t control.Slot) bool { return t.Holding })
			if held < 0 || g.Tokens[held].Slot != 5 || g.Tokens[held].Called == nil {
				t.Errorf("%d members: of the token that it holds it does not say all: %+v", members, g.Tokens)
			}
			if members == 2 && g.Tokens[6].Called == nil || members < 1000 && len(g.Tokens) != wire.MaxSlots {
				t.Errorf("%d members: it leaves out something although there is room", members)
			}
		}
	}
	if s.Gates[0].Tokens[6].Called == nil {
		t.Error("the status itself has changed")
	}
}

func TestWithoutASealTheOutputOfRunsStaysOnTheirHost(t *testing.T) {
	q := question{Subject: aboutHistory, Most: maxAnswer}
	if answer := Answer(t.Context(), &host{history: bigHistory()}, q.bytes(), false); strings.Contains(string(answer),
		"xxx") || len(answer) == 0 {
		t.Errorf("%.200s", answer)
	}
}

// Whatever a member asks, the answer is no longer than it asked for, and at most maxAnswer.
func FuzzQuestion(f *testing.F) {
	for _, q := range []question{
		{Subject: aboutStatus, Most: maxAnswer},
		{
			Subject: aboutHistory, Most: leastAnswer,
			Which: control.Which{Gate: "a", Failed: true, Since: time.Unix(5, 0).UTC()},
		},
	} {
		f.Add(q.bytes())
	}
	f.Add([]byte(`{"most":-1}`))
	big := bigHistory()
	f.Fuzz(func(t *testing.T, asked []byte) {
		h := &host{history: control.History{Gates: slices.Clone(big.Gates)}}
		for i := range h.history.Gates {
			h.history.Gates[i].Runs = slices.Clone(h.history.Gates[i].Runs[:16])
		}
		answer := Answer(t.Context(), h, asked, true)
		q, err := parseQuestion(asked)
		if (answer == nil) != (err != nil) || len(answer) > min(q.Most, maxAnswer) {
			t.Errorf("%d bytes to %q: %v", len(answer), asked, err)
		}
		if err == nil && len(q.bytes()) == 0 {
			t.Errorf("%q is not written again", asked)
		}
	})
}

// Whatever a member answers, it can be shown, it concerns that member, and it names at most as many tokens as a host
// can have.
func FuzzAnswer(f *testing.F) {
	status, err := json.Marshal(control.Status{Name: "m1", Gates: []control.Gate{
		{Name: "sync", Whereabouts: control.Whereabouts{Holding: true, Holder: "m1", Seq: 4}},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(status)
	f.Add(
		[]byte(
			`{"gates":[{"name":"a","tokens":[{"slot":3,"holder":"x","seq":1}],` +
				`"last_run":"9999-12-31T23:59:59-23:59"}]}`))
	f.Add([]byte(`{"gates":[{"name":"sync","runs":[{"start":"2026-01-01T00:00:00Z","seq":1,"exit":-1}]}]}`))
	from := &membership.Member{ID: idOf(7), Name: "m7"}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if s, err := parseStatus(answer, from); err == nil {
			if _, err := json.Marshal(s); err != nil || s.Name != "m7" || s.Member != idOf(7).String() {
				t.Errorf("%+v, %v", s, err)
			}
			fleet := New(idOf(1), nil, nil, nil)
			fleet.learn(s)
			if len(fleet.seen) > maxTokens {
				t.Errorf("%d tokens", len(fleet.seen))
			}
		}
		if h, err := parseHistory(answer, from); err == nil {
			if _, err := json.Marshal(h); err != nil {
				t.Error(err)
			}
		}
	})
}
