package agent

import (
	"crypto/ed25519"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// CheckRosters returns the conflicts between the rosters of a configuration and the state directory, with which an
// agent would not start. It only reads, and finds nothing in a directory that does not exist or that this user may not
// read.
func CheckRosters(c *Config) (problems []error) {
	dir := statedir.ReadOnly(c.StateDir)
	key, err := statedir.ReadNodeKey(statedir.NodeKeyPath(c.StateDir))
	if err != nil {
		return nil // no agent has started there, or the agent itself reports what is wrong with the key
	}
	me := policy.Voter{Name: c.Name, ID: wire.MemberIDOf(key.Public().(ed25519.PublicKey))}
	for i := range c.Gates {
		if err := gate.CheckRoster(dir, me, &c.Gates[i]); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
