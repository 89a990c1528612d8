//go:build linux

package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// slander is an attack with the key of a member that has the gate of that name: twenty times a second it says to all that the token is elsewhere.
// What the token is it hears on loopback, and reads because it has the secret.
func slander(gate string) func(f *fleet) (string, error) {
	return func(f *fleet) (string, error) {
		table := fmt.Sprintf("[[gate]]\nname = %q\nhook = \"/bin/true\"\n", gate) // its runs are not counted
		if err := os.WriteFile(f.File("m9.toml"), []byte(table), 0o600); err != nil {
			return "", err
		}
		if _, err := f.add("m9", "--config", f.File("m9.toml")); err != nil {
			return "", err
		}
		codec, self, err := f.codecOf("m9")
		if err != nil {
			return "", err
		}
		time.Sleep(3 * time.Second) // by then all know the member
		ids, err := f.members()
		if err != nil {
			return "", err
		}
		f.begin()
		said := 0
		for !f.over() {
			heard, err := record(f, time.Second/20, 1<<10)
			if err != nil {
				continue // it rests
			}
			for _, d := range heard {
				got, drop := codec.Open(d.bytes)
				if m := &got.Message; drop == 0 && m.Kind == handoff.KindToken && m.From != self {
					lie := *m
					lie.Kind, lie.From, lie.Exchange, lie.Nonce, lie.Token.Seq = guardian.KindKnown, self, 0, 0, m.Token.Seq.Revived(1)
					for i, p := range f.agents[:size] {
						lie.To = ids[i]
						f.send(codec.Append(nil, &lie), p.addr)
					}
					said++
					break
				}
			}
		}
		return fmt.Sprintf("said %d times", said), nil
	}
}

// codecOf returns what signs and opens with an agent's key, and its identity.
func (f *fleet) codecOf(name string) (*wire.Codec, wire.MemberID, error) {
	secret, err := f.secret()
	if err != nil {
		return nil, wire.MemberID{}, err
	}
	key, err := statedir.ReadNodeKey(filepath.Join(f.File(name), "node_key"))
	if err != nil {
		return nil, wire.MemberID{}, err
	}
	var secrets []wire.Secret
	if secret != nil {
		secrets = append(secrets, *secret)
	}
	codec, err := wire.NewCodec(key, rand.Reader, secrets...)
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
