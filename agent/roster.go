package agent

import (
	"crypto/ed25519"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// CheckRosters returns what the state directory has against the rosters of a configuration: an agent would not start
// with them. It reads only, and says nothing of a directory that is not there, or that this user may not read.
func CheckRosters(c *Config) (problems []error) {
	dir := statedir.ReadOnly(c.StateDir)
	key, err := statedir.ReadNodeKey(statedir.NodeKeyPath(c.StateDir))
	if err != nil {
		return nil // an agent has not started there, or says itself what is wrong with the key
	}
	me := policy.Voter{Name: c.Name, ID: wire.MemberIDOf(key.Public().(ed25519.PublicKey))}
	for i := range c.Gates {
		if err := gate.CheckRoster(dir, me, &c.Gates[i]); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
