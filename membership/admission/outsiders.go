package admission

import (
	"crypto/ed25519"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Outsider is a host that has the secret, but whose key is not trusted here. It has signed its messages, so the key is
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

// Outsiders are the outsiders that were heard last. They are safe for concurrent use.
type Outsiders struct {
	mu   sync.Mutex
	list []Outsider // the latest last
}

// Note remembers an outsider. If there are too many, it forgets the one that has not been heard for longest.
func (o *Outsiders) Note(x Outsider) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(slices.DeleteFunc(o.list, func(was Outsider) bool { return was.ID == x.ID && was.Name == x.Name }),
		x)
	if n := len(o.list) - maxOutsiders; n > 0 {
		o.list = slices.Delete(o.list, 0, n)
	}
}

// Since returns the outsiders that have been heard since a time.
func (o *Outsiders) Since(begin time.Time) []Outsider {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.list), func(x Outsider) bool { return x.At.Before(begin) })
}
