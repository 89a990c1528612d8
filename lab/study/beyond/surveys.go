package beyond

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy/wander"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/report"
)

// notInThePaper is the source of experiments that the paper does not have.
const notInThePaper = "not in the paper"

// The mean times for which a member that crashes is up and down.
const (
	meanUp   = 10_000 * time.Second
	meanDown = 600 * time.Second
)

// Uneven operations take from shortest to longest.
const (
	shortest = 1 * time.Second
	longest  = 16 * time.Second
)

// accepted is the greatest share of time with overlap where messages are lost or members crash.
const accepted = 0.0001

// surveys are all surveys, in the order of the page.
func surveys() []survey {
	crashing := world{
		name: "members crash", up: float64(meanUp) / float64(meanUp+meanDown),
		change: func(s *wandering.Scenario) { s.Faults.CrashEvery, s.Faults.DownFor = meanUp, meanDown },
	}
	broken := world{name: "5 % of the links broken", change: func(s *wandering.Scenario) { s.Network.Broken = 0.05 }}
	uneven := world{name: "operations of 1 to 16 s", change: func(s *wandering.Scenario) {
		s.Hook.Takes, s.Hook.Spread = (shortest+longest)/2, float64(longest-shortest)/float64(longest+shortest)
	}}
	lossy := func(percent int) world {
		return world{
			name:   fmt.Sprintf("%d %% of the datagrams lost", percent),
			change: func(s *wandering.Scenario) { s.Network.Loss = float64(percent) / 100 },
		}
	}
	return []survey{
		{
			name: "beyond-calm", title: "Nothing goes wrong, or one thing at a time", source: "tables 3 to 5; \"an open issue\", section 8",
			shows: "The paper's fleets without faults; and when the token is lost: with a Commit, with its holder, or with its holder and " +
				"the first guardian.",
			cells: papersFleets(world{}), targets: calmTargets,
			notes: []string{
				"Without faults no two operations ever run at once under wanderd's rules: a member whose wait is longer than max_interval asks " +
					"others before it makes a token. The paper's rules make one, and have to remove it again.",
				"sweep gives every member the best possible interval. random and shuffle cannot: in a shuffle, a member that the token " +
					"reaches just before it is due waits for another lap, and a random walk has no laps.",
				"A lost Commit is noticed a skip later by the sender, which is the first guardian. It asks the receiver, which answers " +
					"at once that it has no token. A holder that crashes with its host tells nobody. After a skip without beats its first " +
					"guardian asks it, and waits half a skip for an answer. The last beat was sent up to a quarter of a skip before the " +
					"crash. If the first guardian dies too, the second acts half a skip later.",
				"Under the paper's rules and N = 300, tokens are made all the time. So somebody soon holds a token again, but it takes " +
					"many hours until there is only one.",
				"At N = 300, random sends more messages than handoffs and beats need: they are questions of members that have waited " +
					"for longer than max_interval.",
			},
		},
		{
			name: "beyond-large", title: "A thousand members, and ten thousand", source: "\"fully scalable\", section 8",
			shows: "The constants are the same, so the load is 6.7 and 67, and the best possible interval 4000 s and 40000 s. Ten runs of each " +
				"fleet of 1000, and two of each of 10000, of 200000 s; a hundred faults of each kind.",
			cells: changed(cells(world{}, 1000, 10_000), func(c *cell) {
				c.seeds, c.faults = usualSeeds/2, 2*usualFaults
				if c.members == 10_000 {
					c.duration, c.seeds, c.faults = 200_000*time.Second, 2, 50
				}
				if c.rules.isPaper() {
					c.faults = 0
				}
			}),
			targets: recoveryTargets,
			notes: []string{
				"A recovery takes as long as in a small fleet, because only the holder and its guardians take part in it.",
				"Under the paper's rules nearly everybody waits for longer than Δmax and makes tokens: \"when the size of the membership N is " +
					"significantly near the rate Δmax/Δop, the system shows instability\" (section 5.1). There never is exactly one, so none is " +
					"lost here on purpose.",
			},
		},
		{
			name: "beyond-loss", title: "One datagram in a hundred is lost, or one in twenty", source: notInThePaper,
			shows: "Do lost beats make guardians revive a token that has a holder? How much longer does a recovery take?",
			cells: slices.Concat(papersFleets(lossy(1)), papersFleets(lossy(5))), targets: overlapTargets,
			notes: []string{
				"A guardian asks only after it has missed four beats in a row, and then asks seven times. So no token that has a " +
					"holder is revived.",
				"A recovery takes longer if its question or answer is lost.",
			},
		},
		{
			name: "beyond-crashes", title: "Members crash after 10000 s on average, and are down for 600 s", source: notInThePaper,
			shows: "At N = 300 somebody crashes every half a minute, and the holder every three hours. The others hear of a crash ten seconds later.",
			cells: papersFleets(crashing), targets: overlapTargets,
			notes: []string{
				"The best possible values take into account that six members in a hundred are down. An interval includes the time for " +
					"which its member was down: so the longest ones are no fault of the gate.",
				"If another holder crashes within ten minutes after a planned fault, the wait for one token for good starts again. " +
					"That is most of the difference between \"held again\" and \"one for good\".",
				"If the other guardian is down too, no copy is left, and a new token is made after max_interval.",
			},
		},
		{
			name: "beyond-links", title: "One in twenty ordered pairs of members cannot reach each other, for good", source: notInThePaper,
			shows: "Does a member starve if its predecessor in the lap can never reach it? The membership does not notice the broken " +
				"link, because gossip goes other ways.",
			cells: papersFleets(broken),
			notes: []string{
				"Nobody starves: the next holder tries a member that was missed. Only the time of the failed handoffs is lost.",
				"A guardian that never hears its holder suspects it again and again. Each time the other guardian answers that it " +
					"hears the holder. Sometimes this delays a recovery: if the guardian that is left cannot be reached, or has just asked.",
			},
		},
		{
			name: "beyond-times", title: "Operations take 1 to 16 s, not the 4 s that op says", source: notInThePaper,
			shows: "They are evenly distributed, 8.5 s on average. So the load is twice what the constants say: 2.1 at N = 150 and " +
				"4.25 at N = 300. Δmax stays at 1800 s; max_interval follows the operation as it is measured.",
			cells: papersFleets(uneven),
			notes: []string{"The best possible interval is a lap of average operations. A real lap varies with its operations."},
		},
		{
			name: "beyond-loads", title: "Loads from 0.1 to 2", source: notInThePaper,
			shows: "Fleets of 15 to 300 members, the constants as ever: a load of 1 is N = 150. Half as many runs as elsewhere.",
			cells: changed(cells(world{}, 15, 30, 75, 120, 150, 225, 300), func(c *cell) { c.seeds, c.faults = usualSeeds/2, 2*usualFaults }),
			notes: []string{
				"Below a load of 1, a sweep lets the token wait at the member that is due next, so nobody waits longer than necessary. " +
					"With random and shuffle the token comes at any time, and a member that is due waits half a lap on average.",
			},
			plots: func(all []line) []study.Plot {
				return []study.Plot{
					{Name: "beyond-loads-busy", Chart: loadChart(all, "Busy, of the best possible", "share, %", func(l *line) float64 {
						return 100 * l.steady().busy / l.best().busy
					})},
					{Name: "beyond-loads-interval", Chart: loadChart(all, "99 % of the intervals are below, of the best possible", "times",
						func(l *line) float64 { return l.steady().p99 / l.best().interval.Seconds() })},
				}
			},
		},
	}
}

// calmTargets are those of a world without faults: no overlap, 99 % of the best possible use, no interval
// longer than 1.05 × the best possible, and no more messages than a handoff and its guardians take.
func calmTargets(all []line) []target {
	sweep := func(r *rules) bool { return ours(r) && r.walk == wander.Sweep }
	return slices.Concat(
		each(all, ours, func(l *line) target {
			return l.target("two at once", "0.43 %", "9 %", l.steady().overlap, 0, report.Percent)
		}),
		each(all, sweep, func(l *line) target {
			t := l.target("busy, of the best", "67 %", "47 %", l.steady().busy/l.best().busy, 0.99, report.Percent)
			t.least = true
			return t
		}),
		each(all, sweep, func(l *line) target {
			return l.target("longest interval", "over 2500 s", "over 4500 s", l.steady().longest, 1.05*l.best().interval.Seconds(), inSeconds)
		}),
		each(all, ours, func(l *line) target {
			return l.target("messages per handoff", "3", "3", l.steady().perHandoff, l.steady().allowed, report.Number)
		}),
		recoveryTargets(all),
	)
}

// overlapTargets hold every line of wanderd's rules to the accepted overlap.
func overlapTargets(all []line) []target {
	return each(all, ours, func(l *line) target {
		return l.target("two at once", "", "", l.steady().overlap, accepted, report.Percent)
	})
}
