package call_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/wire"
)

// R11: of two members that are wrong, one names the other to a home that looks for the token, and the other one knows
// nothing. If the home asked all again at once, the two would keep it busy for as long as they are wrong.
func TestAHomeThatIsMisledAsksAllMoreAndMoreRarely(t *testing.T) {
	f := withToken(t, 6)
	home := f.home()
	caller, wrong, named := (home+1)%6, (home+2)%6, (home+3)%6
	f.sent = nil
	for i := range f.members {
		f.down[i] = i != home
	}
	asked := 0
	f.lost = func(m *wire.Message) bool {
		answer := wire.Message{Gate: 7, Kind: call.KindWhere, From: m.To, To: m.From, Exchange: m.Exchange}
		switch {
		case m.Kind == call.KindSeek && m.To == id(wrong):
			asked++
			answer.Token = wire.Ref{ID: wire.TokenID{Birth: 5, Generator: id(wrong), Random: 7}, Seq: 8}
			who := id(named)
			copy(answer.Load[:], who[:])
		case m.Kind == call.KindNext && m.To == id(named):
		default:
			return true
		}
		f.coming = append(f.coming, coming{f.now.Add(delay), answer})
		return true
	}
	f.restart(home)
	f.step(home, policy.Event{Kind: policy.Received, Msg: wire.Message{
		Gate: 7, Kind: call.KindCall, From: id(caller), To: id(home), Exchange: 99, Nonce: 1,
	}})
	f.advance(16 * skip)
	if asked < 3 || asked > 8 {
		t.Errorf("in 16 patiences it asks %d times", asked)
	}
}
