package ballot

import "github.com/wanderd/wanderd/policy"

// Lease returns the epoch that a member has promised, and when the lease that it has given ends, for the checkers.
func (b *Machine) Lease() (Epoch, policy.Time) { return b.supporter.promised, b.supporter.end }
