// Package transpeer is TranspeerToken, the use case of k-copies (section 3.4): routers of transactions, "organizing the
// TMs into a logical ring and replacing the shared directory by our token-ring algorithm. Each token is associated to a
// metadata, carried around the TMs ring". The metadata of a dataset is "the history of transactions performed" on it.
//
//	router.go   a TM: it performs its transactions while it holds the token of their dataset
//	client.go   the clients: they submit transactions, and submit those of a crashed router again
//	history.go  the metadata
//
// The paper does not say what happens to the transactions of a router that crashes. Here the router's clients also hear
// of the crash, and submit them to the next router. A transaction is answered when the token has left with it in its
// history, so k copies of it exist. A client that submits it again finds it there. So no transaction is lost, and none
// is in the history twice.
package transpeer

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/application"
	"github.com/wanderd/wanderd/wire"
)

const (
	// NotePerformed: this router has performed the transaction whose number is Token's Seq.
	NotePerformed policy.Note = iota + 64
	// NoteKnown: that transaction is already in the history.
	NoteKnown
	// NoteAgain: Peer has crashed, and its client submits that transaction to another router.
	NoteAgain
)

// Descriptor describes the routers and their clients.
func Descriptor() policy.Descriptor {
	f := application.Descriptor(20, "transpeer", policy.Notes{
		{Note: NotePerformed, Name: "performed", Level: policy.Debug, Text: "performed a transaction"},
		{Note: NoteKnown, Name: "known", Level: policy.Info, Text: "a transaction had been performed already"},
		{Note: NoteAgain, Name: "again", Level: policy.Info, Text: "submitted a transaction again"},
	})
	f.Kinds = append(f.Kinds, policy.KindInfo{Kind: KindTransaction, Name: "Transaction"},
		policy.KindInfo{Kind: KindDone, Name: "Done"})
	f.WellFormed = wellFormed
	return f
}

const (
	// KindTransaction submits the transaction whose number is Token's Seq, from 1, to a router.
	KindTransaction wire.Kind = iota + 64
	// KindDone answers it.
	KindDone
)

func wellFormed(m *wire.Message) bool {
	mine := (m.Kind == KindTransaction || m.Kind == KindDone) && m.Token == wire.Ref{Seq: m.Token.Seq} &&
		m.Token.Seq > 0 && m.Token.Seq <= wire.Seq(MaxTransactions)
	return mine || kcopies.WellFormed(m)
}

// message is a Transaction or a Done.
func message(kind wire.Kind, gate wire.GateID, from, to wire.MemberID, number int) wire.Message {
	return wire.Message{Gate: gate, Kind: kind, From: from, To: to, Token: wire.Ref{Seq: wire.Seq(number)}}
}

// transaction is a transaction for whose answer a client of this router waits.
type transaction struct {
	client wire.MemberID
	number int
}

// Router is a TM.
type Router struct {
	application.Member
	// service is how long a router takes for one transaction while it holds the token.
	service time.Duration
	// history is the metadata while the token is here.
	history History
	// waiting are the transactions that have not been performed, in the order in which they came; performed are those
	// that are to be answered.
	waiting, performed []transaction
	// until is when the transaction in progress is done.
	serving bool
	until   policy.Time
}

// NewRouter returns a router with room for as many transactions as there can be.
func NewRouter(ring kcopies.Config, service time.Duration) *Router {
	m := &Router{
		service: service, waiting: make([]transaction, 0, MaxTransactions),
		performed: make([]transaction, 0, MaxTransactions),
	}
	m.Begin(ring)
	return m
}

// History returns the metadata that last came with the token, or with a copy of it.
func (m *Router) History() *History { return &m.history }

// String returns one line for traces.
func (m *Router) String() string {
	return fmt.Sprintf("%v, %d waiting, %d performed", &m.Copies, len(m.waiting), m.history.Len())
}
