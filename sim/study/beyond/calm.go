package beyond

import (
	"slices"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/study"
)

// calm is a world in which nothing goes wrong but what is done on purpose.
func calm() survey {
	return survey{
		name: "beyond-calm", title: "Nothing goes wrong, or one thing at a time", source: "tables 3 to 5; \"an open issue\", section 8",
		shows: "The paper's fleets as they are meant to be, and what becomes of them when the token is lost: with a Commit, with its " +
			"holder, with its holder and the first guardian.",
		cells: cells(world{}, study.Nominal, study.Overload),
		targets: func(all []line) []target {
			sweep := func(r *rules) bool { return ours(r) && r.walk == wander.Sweep }
			return slices.Concat(
				each(all, ours, func(l *line) target {
					t := l.overlapTarget(0)
					t.published = byFleet(l.members, "0.43 %", "9 %")
					return t
				}),
				each(all, sweep, (*line).busyTarget),
				each(all, sweep, (*line).longestTarget),
				each(all, ours, (*line).messageTarget),
				recoveryTargets(all),
			)
		},
		notes: func([]line) []string {
			return []string{
				"Without faults no two operations ever run at once under wanderd's rules: a member whose wait is longer than max_interval asks " +
					"others before it makes a token. The paper's rules make one, and have to remove it again.",
				"sweep gives everybody the best possible interval. random and shuffle cannot: a member that the token reaches just before " +
					"it is due waits for another lap, and a random walk has no laps.",
				"A lost Commit is noticed a skip later by the sender, the first guardian, which asks the receiver and is told at once that it " +
					"has nothing. A crashed holder tells nobody: after a skip without its beats it is asked, and has half a skip to answer; it " +
					"has beaten up to a quarter of a skip before it crashed. Where the first guardian dies with it, the second is half a skip " +
					"behind.",
				"Under the paper's rules somebody soon holds a token again where tokens are made all the time, N = 300, and yet it takes " +
					"many hours until there is one and no other.",
				"The messages that random at N = 300 sends beyond those of handoffs and beats are the questions of members that have " +
					"waited for longer than max_interval.",
			}
		},
	}
}
