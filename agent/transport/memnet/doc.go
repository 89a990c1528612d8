// Package memnet is a network in memory, for tests of whole agents inside testing/synctest.
//
// Its endpoints replace the sockets that [transport.Listen] returns. Everything that waits does so on a [sync.Cond],
// which synctest counts as durably blocked, so virtual time advances as soon as all goroutines wait. The package starts
// no goroutine.
//
// A seeded generator loses and delays datagrams; they arrive in the order (due, sent). Streams lose nothing: they have
// latency, they stall while a cut separates their ends, and they break when an end crashes. Two runs with one seed
// differ only where the goroutines under test run in another order.
package memnet
