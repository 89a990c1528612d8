package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// floor is the least that a command under a gate of several hosts takes: the starts of wanderd, of its guard and of the
// command, three signed round trips, and one durable save, one after the other.
type floor struct {
	programs [][]string
	dir      string
	pair     *barePair
}

func newFloor(program, dir string) (*floor, error) {
	pair, err := newBarePair()
	return &floor{
		programs: [][]string{{program, "version"}, {filepath.Join(filepath.Dir(program), "hook-guard")}, {"true"}},
		dir:      dir, pair: pair,
	}, err
}

// usage is the exit code of a guard that is told nothing.
const usage = 64

// pass does it all once, and returns how long it took.
func (f *floor) pass() (time.Duration, error) {
	begun := time.Now()
	for _, argv := range f.programs {
		err := exec.Command(argv[0], argv[1:]...).Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != usage) {
			return 0, fmt.Errorf("%v: %w", argv, err)
		}
	}
	for range 3 {
		if err := f.pair.roundTrip(); err != nil {
			return 0, err
		}
	}
	err := save(f.dir)
	return time.Since(begun), err
}

func (f *floor) close() { f.pair.close() }

// save replaces a file of a kilobyte, and syncs it and its directory.
func save(dir string) error {
	next := filepath.Join(dir, "next")
	file, err := os.Create(next)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 1024))
	if err = errors.Join(err, file.Sync(), file.Close(), os.Rename(next, filepath.Join(dir, "saved"))); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// barePair is two sockets. The second one answers what it gets from the first. Each datagram has the length of one of
// wanderd, and is signed and verified.
type barePair struct {
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	ends    [2]net.Conn
}

// content is the length of what is signed.
const content = 288

func newBarePair() (*barePair, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	p := &barePair{public: public, private: private}
	second, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	first, err := net.DialUDP("udp4", nil, second.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return nil, err
	}
	p.ends = [2]net.Conn{first, second}
	go func() {
		for {
			from, err := p.receive(func(b []byte) (int, net.Addr, error) { return second.ReadFrom(b) })
			if err != nil {
				return
			}
			_, _ = second.WriteTo(p.sign(), from)
		}
	}()
	return p, nil
}

func (p *barePair) sign() []byte {
	b := make([]byte, content, content+ed25519.SignatureSize)
	return append(b, ed25519.Sign(p.private, b)...)
}

func (p *barePair) receive(read func(b []byte) (int, net.Addr, error)) (net.Addr, error) {
	var b [2 * content]byte
	n, from, err := read(b[:])
	if err == nil && (n < content || !ed25519.Verify(p.public, b[:content], b[content:n])) {
		err = errors.New("a signature is wrong")
	}
	return from, err
}

func (p *barePair) roundTrip() error {
	if _, err := p.ends[0].Write(p.sign()); err != nil {
		return err
	}
	_ = p.ends[0].SetReadDeadline(time.Now().Add(time.Second))
	_, err := p.receive(func(b []byte) (int, net.Addr, error) {
		n, err := p.ends[0].Read(b)
		return n, nil, err
	})
	return err
}

func (p *barePair) close() {
	for _, end := range p.ends {
		_ = end.Close()
	}
}
