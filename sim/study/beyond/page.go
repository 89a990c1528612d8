package beyond

import "github.com/wanderd/wanderd/sim/study"

// intro is what all experiments have in common.
const intro = `What wanderd does where Augusto Ciuffoletti's *The wandering token* ends: guardians bring a lost token back, walks go
round, and a member asks before it makes a token. The fleets have the paper's constants, Δskip 1 s, Δop 4 s and Δmin 600 s, and mostly
its sizes, N = 150 (a load of 1) and 300 (a load of 2); a datagram takes 1 ms, a crash is known to all after 10 s. The machines are
those of the agent, message by message, in virtual time.

Every table has four rows for each fleet: *the paper's rules* (a random walk, Δmax 1800 s, no guardians), and wanderd's with two
guardians and max_interval by its default rule, for each walk: *random*, *shuffle*, *sweep*. Unless it says otherwise, a row rests on
10⁶ s, as the paper's runs do, here in 20 pieces of 50000 s with a seed of their own, and on 100 faults of each kind. A fleet has
settled before anything is counted: two laps of the token, and at least 5000 s.

- *busy* is the share of the time with an operation. The best possible is min(1, load) while one runs at a time, and for the interval
  between two operations of a member max(Δmin, N × Δop).
- *two at once* is the share of the time with two operations or more.
- *longest* is the longest interval of any run, one that is not over at its end included; quantiles are means over the runs.
- *messages* are all datagrams, beats included. To a handoff belong three messages, one to each guardian and one to the guardian that
  drops out; besides, a holder beats four times a skip to each guardian. *made anew* and *revived* are tokens in 10⁶ s.
- *held again* is the time from a fault until somebody holds a token again; *one for good* until the moment from which there is
  exactly one token, for at least Δmin: "stable", as far as the paper says what that is. *two at once* is there how long
  operations overlapped from the fault until it is known that there is one for good.`

// Page returns all experiments. The network is parted before its links are broken.
func Page() study.Page {
	p := study.Page{Name: "beyond", Title: "Beyond the paper", Intro: intro}
	for _, s := range surveys() {
		if s.name == "beyond-links" {
			p.Experiments = append(p.Experiments, parted())
		}
		p.Experiments = append(p.Experiments, s.experiment())
	}
	return p
}
