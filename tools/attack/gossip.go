package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/wire"
)

// defame is an attack of who has the secret and no key: it calls every member dead, twenty times a second.
func defame(f *fleet) (string, error) {
	seal, err := f.gossipSeal()
	if err != nil {
		return "", err
	}
	nodes, err := f.nodes()
	if err != nil {
		return "", err
	}
	conn, err := attackSocket("127.0.0.66")
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	sent := 0
	for ; !f.over(); time.Sleep(time.Second / 20) {
		node := nodes[sent%len(nodes)]
		dead := append([]byte{5, 0x83}, "\xabIncarnation\xce"...)
		dead = binary.BigEndian.AppendUint32(dead, uint32(1000+sent))
		dead = append(text(append(dead, "\xa4Node"...), node), "\xa4From"...)
		packet := wire.AppendGossip(nil, seal(unsigned(text(dead, node))))
		for _, p := range f.agents[:size] {
			_, _ = conn.WriteToUDPAddrPort(packet, p.addr)
		}
		sent++
	}
	return fmt.Sprintf("%d members called dead", sent), nil
}

// unsigned is the content of a datagram of gossip, with a sender and a signature that are checked only where keys have to be trusted.
func unsigned(packet []byte) []byte { return append(make([]byte, 16+64), packet...) }

// text appends a string in msgpack.
func text(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(s))), s...)
}

// gossipSeal returns what seals gossip with the fleet's secret.
func (f *fleet) gossipSeal() (func(plain []byte) []byte, error) {
	secrets, err := statedir.ReadSecretFile(f.file("secret"))
	if err != nil {
		return nil, err
	}
	key := secrets[0].GossipKey()
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return func(plain []byte) []byte {
		b := append([]byte{1}, make([]byte, aead.NonceSize())...)
		_, _ = rand.Read(b[1:]) // It never fails.
		return aead.Seal(b, b[1:], plain, nil)
	}, nil
}

// nodes asks an agent for the members, and returns their names in gossip.
func (f *fleet) nodes() ([]string, error) {
	out, err := exec.Command(f.program, "members", "--json", "--state-dir", f.file(f.agents[0].name)).Output()
	if err != nil {
		return nil, err
	}
	var members control.Members
	if err := json.Unmarshal(out, &members); err != nil {
		return nil, err
	}
	var nodes []string
	for _, m := range members.Members {
		nodes = append(nodes, m.Name+"~"+m.Member)
	}
	return nodes, nil
}
