package beyond

import "github.com/wanderd/wanderd/lab/study"

// intro is what all experiments have in common.
const intro = `wanderd goes further than Augusto Ciuffoletti's *The wandering token*: guardians revive a lost token, walks go round, and a
member asks others before it makes a token. This page measures the effects. The fleets have the paper's constants, Δskip 1 s, Δop 4 s
and Δmin 600 s, and mostly its sizes, N = 150 (a load of 1) and 300 (a load of 2). A datagram takes 1 ms. All members know of a crash
after 10 s. The simulation runs the agent's protocol code, message by message, in virtual time.

Every table has four rows for each fleet: *the paper's rules* (a random walk, Δmax 1800 s, no guardians), and wanderd's rules with
each walk: *random*, *shuffle*, *sweep*. wanderd's rules have two guardians, and max_interval by its default rule. Unless the text says
otherwise, a row is measured over 10⁶ s, like the paper's runs, in 20 pieces of 50000 s with a seed each, and over 100 faults of each
kind. Before anything is counted a fleet has settled: for two laps of the token, and at least 5000 s.

- *busy* is the share of the time with an operation. If one runs at a time, the best possible share is min(1, load), and the best
  possible interval between two operations of a member is max(Δmin, N × Δop).
- *two at once* is the share of the time with two operations or more.
- *longest* is the longest interval of any run, also if it was not over at the end of the run. Quantiles are means over the runs.
- *messages* are all datagrams, with beats. A handoff takes three messages, one to each guardian, and one to the guardian that is
  not needed any more. A holder also sends each guardian four beats per skip. *made anew* and *revived* are tokens in 10⁶ s.
- *held again* is the time from a fault until somebody holds a token again. *one for good* is the time until there is exactly one
  token and stays the only one for at least Δmin. The paper calls that "stable", as far as it defines it. After a fault, *two at once*
  is how long operations overlapped until one token was there for good.`

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
