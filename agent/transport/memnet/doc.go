// Package memnet is a network in memory, for tests of whole agents inside testing/synctest.
//
// An endpoint of it takes the place of the sockets that [transport.Listen] returns. Everything that waits does so on a
// [sync.Cond], which synctest counts as durably blocked, so virtual time moves on as soon as nobody has anything to do. It
// starts no goroutine of its own.
//
// Datagrams are lost and doubled by a seeded generator and arrive in the order (due, sent). Streams lose nothing: they are
// slow, they stall while their two ends are cut apart, and they break when an end crashes. Two runs with one seed differ
// only where the goroutines under test run in another order.
package memnet
