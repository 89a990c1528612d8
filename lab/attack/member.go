//go:build linux

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/lab/hosts"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// member has the key of a member m9. It hears on loopback what the others send to each other, and can read it because
// it has the secret.
type member struct {
	f     *fleet
	codec *wire.Codec
	self  wire.MemberID
	// others are the identities of the agents.
	others []wire.MemberID
}

// infiltrate adds a member that has the gate with that name, and begins the attack when all know the member.
func infiltrate(f *fleet, gate string) (*member, error) {
	table := fmt.Sprintf("[[gate]]\nname = %q\nhook = \"/bin/true\"\n", gate) // its runs are not counted
	if err := os.WriteFile(f.File("m9.toml"), []byte(table), 0o600); err != nil {
		return nil, err
	}
	if _, err := f.add("m9", "--config", f.File("m9.toml")); err != nil {
		return nil, err
	}
	codec, self, err := f.codecOf("m9")
	if err != nil {
		return nil, err
	}
	time.Sleep(3 * time.Second)
	others, err := f.members()
	if err != nil {
		return nil, err
	}
	f.begin()
	return &member{f, codec, self, others}, nil
}

// hear returns the messages that the others have sent in a twentieth of a second.
func (m *member) hear() (messages []wire.Message) {
	heard, err := record(m.f, time.Second/20, 1<<10)
	if err != nil {
		return nil // The others rest.
	}
	for _, d := range heard {
		if got, drop := m.codec.Open(d.bytes); drop == 0 && got.Message.From != m.self {
			messages = append(messages, got.Message)
		}
	}
	return messages
}

// tell sends a message to one of the others.
func (m *member) tell(i int, msg *wire.Message) {
	msg.From, msg.To = m.self, m.others[i]
	m.f.send(m.codec.Append(nil, msg), m.f.agents[i].addr)
}

// slander is an attack with the key of a member that has the gate with that name: twenty times a second it tells all
// others that the token is elsewhere.
func slander(gate string) func(f *fleet) (string, error) {
	return func(f *fleet) (string, error) {
		m, err := infiltrate(f, gate)
		if err != nil {
			return "", err
		}
		said := 0
		for !f.over() {
			heard := m.hear()
			i := slices.IndexFunc(heard, func(h wire.Message) bool { return h.Kind == handoff.KindToken })
			if i < 0 {
				continue
			}
			lie := heard[i]
			lie.Kind, lie.Exchange, lie.Nonce, lie.Token.Seq = guardian.KindKnown, 0, 0, lie.Token.Seq.Revived(1)
			for to := range m.others {
				m.tell(to, &lie)
			}
			said++
		}
		return fmt.Sprintf("said %d times", said), nil
	}
}

// forgeTokens is an attack with the key of a member of the gate: it offers tokens to all others that do not exist and
// are older than the real one, and passes them on.
func forgeTokens(f *fleet) (string, error) {
	m, err := infiltrate(f, hosts.GateName)
	if err != nil {
		return "", err
	}
	passed := 0
	for !f.over() {
		offered := false
		for _, h := range m.hear() {
			to := slices.Index(m.others, h.From)
			switch {
			case to < 0:
			case h.Kind == handoff.KindAck && h.To == m.self:
				commit := handoff.Reply(&h, handoff.KindCommit, h.Nonce)
				m.tell(to, &commit)
				passed++
			case h.Kind == handoff.KindToken && !offered:
				offered = true
				h.Token.ID.Birth -= int64(time.Hour) + int64(passed)
				for each := range m.others {
					h.Exchange = wire.Exchange(mathrand.Uint64() | 1)
					m.tell(each, &h)
				}
			}
		}
	}
	return fmt.Sprintf("%d tokens passed on", passed), nil
}

// codecOf returns a codec that signs and opens with an agent's key and the fleet's secret, and the agent's identity.
func (f *fleet) codecOf(name string) (*wire.Codec, wire.MemberID, error) {
	secret, err := f.secret()
	if err != nil {
		return nil, wire.MemberID{}, err
	}
	key, err := statedir.ReadNodeKey(filepath.Join(f.File(name), "node_key"))
	if err != nil {
		return nil, wire.MemberID{}, err
	}
	codec, err := wire.NewCodec(key, rand.Reader, *secret)
	return codec, wire.MemberIDOf(key.Public().(ed25519.PublicKey)), err
}

// members returns the identities of the agents.
func (f *fleet) members() ([]wire.MemberID, error) {
	var ids []wire.MemberID
	for _, p := range f.agents[:size] {
		_, id, err := f.codecOf(p.Name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
