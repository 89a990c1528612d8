package admission

import (
	"crypto/ed25519"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Outsider is a host that has the secret, and whose key is not trusted here. It has signed what it said, so the key is
// its own; the name is what it calls itself.
type Outsider struct {
	Name string
	ID   wire.MemberID
	Key  ed25519.PublicKey
	Addr net.Addr
	// Why is why it is not trusted, At when it was last heard.
	Why error
	At  time.Time
}

// maxOutsiders bounds the outsiders that are remembered: an operator adds a line for each.
const maxOutsiders = 16

// Outsiders are those that were heard last. It is safe for concurrent use.
type Outsiders struct {
	mu   sync.Mutex
	list []Outsider // the last one last
}

// Note remembers an outsider. It forgets the one that was heard least lately if there are too many.
func (o *Outsiders) Note(x Outsider) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(slices.DeleteFunc(o.list, func(was Outsider) bool { return was.ID == x.ID && was.Name == x.Name }),
		x)
	if n := len(o.list) - maxOutsiders; n > 0 {
		o.list = slices.Delete(o.list, 0, n)
	}
}

// Since returns those that have been heard since a time.
func (o *Outsiders) Since(begin time.Time) []Outsider {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.list), func(x Outsider) bool { return x.At.Before(begin) })
}
