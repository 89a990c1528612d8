// Package beyond measures what wanderd does where Ciuffoletti's "The wandering token" ends: guardians that bring a lost token
// back, walks that go round, and how all of it stands loss, crashes, partitions, broken links, uneven operations, other loads and
// larger fleets.
//
// Every table has four rows for each fleet: the paper's rules, and wanderd's with each walk. All run the same machines as the
// agent does, message by message, in package sim. A verdict never rests on what was not measured.
//
//	page.go       what there is
//	surveys.go    the experiments, as a table of data; parted.go the one that asks something of its own
//	fleet.go      a line of a table: the paper's constants, some rules, a world
//	survey.go     an experiment: fleets in worlds, with many seeds of each
//	steady.go     how a fleet does in the long run
//	fault.go      the token is lost on purpose, and the fleet watched until it is over it
//	holders.go    who holds a token meanwhile
//	recovery.go   how long that took
//	target.go     what was to be reached, and whether it was
package beyond
