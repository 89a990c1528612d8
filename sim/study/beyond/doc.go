// Package beyond measures what wanderd adds to Ciuffoletti's "The wandering token": guardians that revive a lost token, and
// walks that go round, under loss, crashes, partitions, broken links, uneven operations, other loads and
// larger fleets.
//
// Every table has four rows for each fleet: the paper's rules, and wanderd's with each walk. All run the same machines as the
// agent does, message by message, in package sim. A verdict never counts a missing measurement as reached.
//
//	page.go       the list of experiments
//	surveys.go    the experiments, as a table of data; parted.go: one of another form
//	fleet.go      a line of a table: the paper's constants, some rules, a world
//	survey.go     an experiment: fleets in worlds, with many seeds of each
//	steady.go     figures of the long run
//	fault.go      the token is lost on purpose, and the recovery watched
//	holders.go    the holders of tokens meanwhile
//	recovery.go   how long recoveries took
//	target.go     targets, and whether they were reached
package beyond
