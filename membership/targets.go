package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Refusals returns the addresses to join that do not answer, sorted by text. It is empty while another member is known.
func (m *Membership) Refusals() []Refusal {
	j := m.joiner
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.SortedFunc(maps.Values(j.refusals), func(a, b Refusal) int { return strings.Compare(a.Join, b.Join) })
}

// SetJoin replaces the addresses that are tried for as long as the agent runs. Members that are known stay known. On an
// error nothing changes.
func (m *Membership) SetJoin(addresses []string) error {
	targets := make(map[string]target, len(addresses))
	for _, s := range addresses {
		t, err := parseTarget(s)
		if err != nil {
			return fmt.Errorf("new addresses to join: %w", err)
		}
		targets[t.text] = t
	}
	m.life.Lock()
	defer m.life.Unlock()
	if m.left || m.down {
		return nil
	}
	for text, stop := range m.seeking {
		if _, stays := targets[text]; !stays {
			stop()
			delete(m.seeking, text)
			m.joiner.refused(target{text: text}, nil)
		}
	}
	for text, t := range targets {
		if m.seeking[text] == nil {
			m.seeking[text] = m.seek(t)
		}
	}
	return nil
}
