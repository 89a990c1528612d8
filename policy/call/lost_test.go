package call_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// A run whose token another member holds, too, ends by itself or is stopped, as the operator has chosen.
func TestARunThatIsOvertakenFinishesOrIsStopped(t *testing.T) {
	for choice, stops := range map[soft.OnLost][]int{soft.Finish: nil, soft.Stop: {4}} {
		t.Run(choice.String(), func(t *testing.T) {
			f := withToken(t, 6)
			if !f.members[4].(policy.Tunable).Tune(call.Settings{Skip: skip, Backups: 2, OnLost: choice}) {
				t.Fatal("the machine does not take the setting")
			}
			f.step(4, policy.Event{Kind: policy.Wanted})
			f.advance(skip)
			token := f.members[4].Status(f.now).Token
			token.Seq = token.Seq.NextEpoch()
			f.step(4, policy.Event{Kind: policy.Received, Msg: wire.Message{
				Gate: 7, Kind: guardian.KindAsk, From: id(1), To: id(4), Exchange: 99, Token: token,
			}})
			if !slices.Equal(f.stops, stops) || f.members[4].Status(f.now).Holding {
				t.Errorf("these are stopped: %v, want %v; the token is here: %v", f.stops, stops,
					f.members[4].Status(f.now).Holding)
			}
		})
	}
}

// A host that was asleep during its run asks its homes, and learns that the token has another holder.
func TestARunThatWentOnAfterASleepIsStopped(t *testing.T) {
	f := withToken(t, 6)
	f.members[4].(policy.Tunable).Tune(call.Settings{Skip: skip, Backups: 2, OnLost: soft.Stop})
	f.step(4, policy.Event{Kind: policy.Wanted})
	f.advance(skip)
	f.lost = func(m *wire.Message) bool { return m.From == id(4) || m.To == id(4) }
	f.step(3, policy.Event{Kind: policy.Wanted})
	f.advance(5 * skip)
	if !slices.Equal(f.runs, []int{4, 3}) {
		t.Fatalf("while a holder is away, these run: %v", f.runs)
	}
	f.lost = nil
	f.step(4, policy.Event{Kind: policy.Suspended, Slept: 5 * skip})
	f.advance(4 * delay)
	if !slices.Equal(f.stops, []int{4}) {
		t.Errorf("these are stopped: %v", f.stops)
	}
}
