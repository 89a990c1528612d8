package sim

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// count sends numbered messages on one link, at once and later, over a network with much jitter, and returns the
// numbers as they arrive.
func count(t *testing.T, n Network) []uint64 {
	t.Helper()
	var got []uint64
	var ids []wire.MemberID
	c := New(Config{
		Seed: 1, Members: 2, Network: n,
		Machine: func(env Env) policy.Machine {
			ids = append(ids, env.Self)
			return &probe{self: env.Self, got: new([]given), answer: func(ev *policy.Event) []policy.Effect {
				if ev.Kind == policy.Received {
					got = append(got, uint64(ev.Msg.Nonce))
				}
				if ev.Kind != policy.Wanted {
					return nil
				}
				var out []policy.Effect
				for i := range 20 {
					out = policy.AppendSend(out, &wire.Message{From: ids[0], To: ids[1], Nonce: wire.Nonce(i + 1)})
				}
				return out
			}}
		},
	})
	c.Boot()
	c.Want(0)
	if err := c.Run(policy.Time(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestMessagesOnALinkThatIsFIFOArriveInOrder(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		got := count(t, Network{Latency: time.Millisecond, Jitter: time.Second, FIFO: fifo})
		inOrder := len(got) == 20
		for i, n := range got {
			inOrder = inOrder && n == uint64(i+1)
		}
		if inOrder != fifo {
			t.Errorf("FIFO %v: %v", fifo, got)
		}
	}
}

// A message on its way to a member that crashes, and is back before the message arrives, is lost where links are
// connections, and arrives where they are not.
func TestAMessageToAnEarlierLifeIsLostOnAConnection(t *testing.T) {
	for _, fifo := range []bool{false, true} {
		arrived := 0
		var ids []wire.MemberID
		c := New(Config{
			Seed: 1, Members: 2, Network: Network{Latency: time.Second, FIFO: fifo},
			Machine: func(env Env) policy.Machine {
				ids = append(ids, env.Self)
				return &probe{self: env.Self, got: new([]given), answer: func(ev *policy.Event) (out []policy.Effect) {
					if ev.Kind == policy.Received {
						arrived++
					}
					if ev.Kind == policy.Wanted {
						out = policy.AppendSend(out, &wire.Message{From: ids[0], To: ids[1], Nonce: 1})
					}
					return out
				}}
			},
		})
		c.Boot()
		c.Want(0)
		c.Crash(1)
		c.Start(1)
		c.After(2*time.Second, func() { c.Want(0) })
		if err := c.Run(policy.Time(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 2, true: 1}[fifo]; arrived != want {
			t.Errorf("FIFO %v: %d of 2 messages arrived, want %d", fifo, arrived, want)
		}
	}
}

// "A crash is told only after no message of the crashed is in flight."
func TestAPerfectDetectorTellsACrashAfterTheLastMessage(t *testing.T) {
	for _, perfect := range []bool{false, true} {
		var got []given
		var ids []wire.MemberID
		c := New(Config{
			Seed: 1, Members: 2, Network: Network{Latency: time.Second}, Membership: Membership{Perfect: perfect},
			Machine: func(env Env) policy.Machine {
				ids = append(ids, env.Self)
				return &probe{self: env.Self, got: &got, answer: func(ev *policy.Event) []policy.Effect {
					if ev.Kind != policy.Wanted {
						return nil
					}
					return policy.AppendSend(nil, &wire.Message{From: ids[0], To: ids[1]})
				}}
			},
		})
		c.Boot()
		c.Want(0)
		c.Crash(0)
		got = nil
		if err := c.Run(policy.Time(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[0].Kind == policy.Received != perfect {
			t.Errorf("perfect %v: %+v", perfect, got)
		}
	}
}
