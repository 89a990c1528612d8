//go:build linux

package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
	"github.com/wanderd/wanderd/wire"
)

// defame is the attack of a sender that has the secret but no key: it reports every member dead.
func defame(f *fleet) (string, error) {
	sent, err := f.gossip(func(node string, incarnation uint32) []byte {
		dead := append([]byte{5, 0x83}, "\xabIncarnation\xce"...)
		dead = binary.BigEndian.AppendUint32(dead, incarnation)
		dead = append(text(append(dead, "\xa4Node"...), node), "\xa4From"...)
		return text(dead, node)
	})
	return fmt.Sprintf("%d members called dead", sent), err
}

// gossip sends a message about one member after the other to every agent, twenty times a second, until the attack is
// over. It returns the number of messages.
func (f *fleet) gossip(say func(node string, incarnation uint32) []byte) (sent int, err error) {
	seal, err := f.gossipSeal()
	if err != nil {
		return 0, err
	}
	nodes, err := f.nodes()
	if err != nil {
		return 0, err
	}
	for ; !f.over(); time.Sleep(time.Second / 20) {
		f.whisper(seal(unsigned(say(nodes[sent%len(nodes)], uint32(1000+sent)))))
		sent++
	}
	return sent, nil
}

// whisper sends a datagram of gossip to every agent.
func (f *fleet) whisper(sealed []byte) {
	packet := wire.AppendGossip(nil, sealed)
	for _, p := range f.agents[:size] {
		f.send(packet, p.addr)
	}
}

// alive returns an announcement of a node at a loopback address. If the key is the node's, it has metadata that the key
// has signed.
func alive(node string, key ed25519.PrivateKey, port uint16, flags byte, incarnation uint32) []byte {
	host := []byte{127, 0, 0, 66}
	meta := append([]byte{2 | flags}, key.Public().(ed25519.PublicKey)...)
	meta = binary.BigEndian.AppendUint64(meta, 1<<62)
	meta = binary.BigEndian.AppendUint16(meta, uint16(wire.GateIDOf(hosts.GateName)>>49)<<1)
	mapped := append(append(make([]byte, 10), 0xff, 0xff), host...)
	statement := append(append(append([]byte{byte(len(node))}, node...), mapped...), byte(port>>8), byte(port))
	signature, err := key.Sign(nil, append(statement, meta...), &ed25519.Options{Context: "wanderd announcement v2"})
	if err != nil {
		panic(err) // the context is short
	}
	meta = append(meta, signature...)
	b := append([]byte{4, 0x86}, "\xabIncarnation\xce"...)
	b = binary.BigEndian.AppendUint32(b, incarnation)
	b = text(append(b, "\xa4Node"...), node)
	b = append(append(b, "\xa4Addr\xc4\x04"...), host...)
	b = binary.BigEndian.AppendUint16(append(b, "\xa4Port\xcd"...), port)
	b = append(append(append(b, "\xa4Meta\xc4"...), byte(len(meta))), meta...)
	return append(b, "\xa3Vsn\xc4\x06\x01\x05\x02\x00\x00\x00"...)
}

// invent announces 5,000 members with keys of their own within 1.2 s.
func invent(f *fleet) (string, error) {
	seal, err := f.gossipSeal()
	if err != nil {
		return "", err
	}
	const most = 5000
	packets := make([][]byte, most)
	for i := range packets {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return "", err
		}
		id := wire.MemberIDOf(key.Public().(ed25519.PublicKey))
		packets[i] = seal(unsigned(alive(fmt.Sprintf("x%d~%s", i, id), key, uint16(10000+i), 0, 1)))
	}
	f.begin()
	for i, packet := range packets {
		f.whisper(packet)
		time.Sleep(time.Until(f.start.Add(time.Duration(i) * 1200 * time.Millisecond / most)))
	}
	known, err := f.nodes()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("an agent lists %d members", len(known)), nil
}

// dismiss announces that members leave, with a key that is not theirs.
func dismiss(f *fleet) (string, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	_, err = f.gossip(func(node string, incarnation uint32) []byte { return alive(node, key, 7946, 0x80, incarnation) })
	return "", err
}

// unsigned returns the content of a datagram of gossip, with a sender and a signature that are checked only where keys
// have to be trusted.
func unsigned(packet []byte) []byte { return append(make([]byte, 16+64), packet...) }

// text appends a string in msgpack.
func text(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(s))), s...)
}

// gossipSeal returns a function that seals gossip with the fleet's secret.
func (f *fleet) gossipSeal() (func(plain []byte) []byte, error) {
	secret, err := f.secret()
	if err != nil {
		return nil, err
	}
	key := secret.GossipKey()
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
