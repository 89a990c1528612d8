// Package beyond measures what wanderd adds to Ciuffoletti's "The wandering token": guardians that revive a lost token,
// and walks that go round, under loss, crashes, partitions, broken links, uneven operations, other loads and larger
// fleets.
//
// Every table has four rows for each fleet: the paper's rules, and wanderd's with each walk. All rows run the same
// machines as the agent does, message by message, in package sim. A verdict never counts a missing measurement as
// reached.
package beyond
