package trust

import (
	"crypto/sha256"
	"sync"

	"golang.org/x/crypto/ssh"
)

// provenMax bounds how many certificates are remembered: enough for a large fleet, whose certificates themselves are
// kept in any case.
const provenMax = 1024

// proven remembers the certificates that once passed every check of [ssh.CertChecker]. Of these, only the validity in
// time, and who may sign for whom, are checked again. This pays because a line that revokes one host makes a member
// judge all others again, and checking a signature takes sixty times as long as the rest. It is safe for concurrent
// use.
type proven struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]*ssh.Certificate
}

// find returns the certificate with that digest, or nil if it is not proven.
func (p *proven) find(digest [sha256.Size]byte) *ssh.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[digest]
}

func (p *proven) add(digest [sha256.Size]byte, c *ssh.Certificate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || len(p.of) >= provenMax {
		p.of = make(map[[sha256.Size]byte]*ssh.Certificate)
	}
	p.of[digest] = c
}
