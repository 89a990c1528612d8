package membership

import (
	"fmt"

	"github.com/wanderd/wanderd/membership/peers"
)

// Refusals returns the addresses to join that do not answer, sorted by text. It is empty while another member is known.
func (m *Membership) Refusals() []Refusal { return m.joiner.Refusals() }

// SetJoin replaces the addresses that are tried for as long as the agent runs. Members that are known stay known. On an
// error nothing changes.
func (m *Membership) SetJoin(addresses []string) error {
	targets, err := peers.ParseTargets(addresses)
	if err != nil {
		return fmt.Errorf("new addresses to join: %w", err)
	}
	m.life.Lock()
	defer m.life.Unlock()
	if m.left || m.down {
		return nil
	}
	m.joiner.Follow(targets)
	return nil
}
