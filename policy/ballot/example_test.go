package ballot_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// One of three members proposes. Its own promise and one more are a majority: it makes a token, and may run until the
// lease ends. Saves are durable at once here, and the third member is down.
func Example() {
	ids := []wire.MemberID{{1}, {2}, {3}}
	roster, err := ballot.NewRoster([]string{"a", "b", "c"}, ids)
	if err != nil {
		panic(err)
	}
	// The members have been up for longer than any lease.
	now := policy.Instant{Time: policy.Time(time.Hour), Wall: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC).UnixNano()}
	members := make([]ballot.Machine, 2)
	for i := range members {
		members[i] = ballot.New(ballot.Config{
			Gate: wire.GateIDOf("migrate"), Roster: &roster, Self: i, Entropy: rand.NewPCG(1, uint64(i)),
			Lease: 8 * time.Second, MostLease: 8 * time.Second, KillAfter: time.Second, Margin: 100 * time.Millisecond,
			Rho: 0.01, Patience: 200 * time.Millisecond,
		})
		members[i].Start(0, &policy.State{})
	}
	nameOf := func(id wire.MemberID) string {
		rank, _ := roster.Rank(id)
		return roster.Name(rank)
	}
	a := &members[0]
	var carry func(effects []policy.Effect, from int)
	settle := func(m int, end *ballot.Outcome, effects []policy.Effect) {
		if members[m].NeedsSave() {
			effects = members[m].OnSaved(now.Time, false, end, effects)
		}
		if end.Ending == ballot.Promised || end.Ending == ballot.Won {
			isMajority := end.Ending == ballot.Won
			fmt.Printf("%s has a promise of %s; a majority: %v\n", roster.Name(m), nameOf(end.Peer), isMajority)
		}
		carry(effects, m)
	}
	carry = func(effects []policy.Effect, from int) {
		for _, e := range effects {
			if to, ok := roster.Rank(e.Msg.To); e.Kind == policy.Send && ok && to < len(members) {
				var end ballot.Outcome
				e.Msg.From = ids[from]
				settle(to, &end, members[to].Receive(now, &e.Msg, &end, nil))
			}
		}
	}

	a.Propose(now.Time, 0)
	var end ballot.Outcome
	settle(0, &end, a.Wake(now, &end, nil))
	fmt.Println("holds a token:", a.Token() != nil, "for", a.Until().Sub(now.Time).Round(100*time.Millisecond))
	// Output:
	// a has a promise of a; a majority: false
	// a has a promise of b; a majority: true
	// holds a token: true for 7.8s
}
