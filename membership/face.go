package membership

import "github.com/wanderd/wanderd/membership/broadcast"

// Broadcast is an order to a gate; see package broadcast.
type Broadcast = broadcast.Broadcast
