package membership

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
)

// source is a source of addresses that a test changes.
type source struct {
	mu    sync.Mutex
	says  []string
	fails error
	asked []time.Time
}

func (s *source) set(fails error, says ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.says = fails, says
}

func (s *source) ask(_ context.Context, name string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, time.Now())
	if name != "srv:_wanderd._udp.example.org" {
		return nil, errors.New("asked for " + name)
	}
	return slices.Clone(s.says), s.fails
}

func (s *source) asks(since time.Time) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.asked {
		if at.After(since) {
			n++
		}
	}
	return n
}

func (s *source) joins(c *Config) { c.Join, c.Ask = []string{"srv:_wanderd._udp.example.org"}, s.ask }

// A source is asked again while nobody answers, whatever it says, and every ten minutes afterwards.
func TestASourceOfAddressesIsAskedAgain(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		seed, s := f.start(1), &source{}
		late := f.start(2, s.joins)
		for _, fails := range []error{nil, errors.New("server misbehaving")} {
			s.set(fails)
			since := time.Now()
			time.Sleep(10 * time.Minute)
			if n := s.asks(since); n < 20 || n > 120 {
				t.Errorf("asked %d times in ten minutes alone", n)
			}
		}
		if len(late.logs.With("warn", "asking srv:", "names no host", "asked again")) == 0 {
			t.Errorf("warned: %s", late.logs.With("warn"))
		}
		s.set(nil, "no such host?", "10.0.0.1")
		f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, seed}, 1, 2))
		time.Sleep(time.Minute)
		since := time.Now()
		time.Sleep(time.Hour)
		if n := s.asks(since); n < 4 || n > 6 {
			t.Errorf("asked %d times in an hour with others", n)
		}
	})
}

// When a source fails, or names nobody any more, its last answer is tried on.
func TestAnEmptyAnswerIsNoReasonToForget(t *testing.T) {
	for name, fails := range map[string]error{"empty": nil, "failing": errors.New("server misbehaving")} {
		t.Run(name, func(t *testing.T) {
			inFleet(t, func(_ *testing.T, f *fleet) {
				s := &source{says: []string{"10.0.0.1:7946"}}
				late := f.start(2, s.joins)
				time.Sleep(time.Minute)
				s.set(fails)
				time.Sleep(10 * time.Minute)
				seed := f.start(1)
				f.within(2*peers.JoinMax, "they see each other", allSee([]*host{late, seed}, 1, 2))
			})
		})
	}
}

// Of a long answer some addresses are tried at a time, in the end all.
func TestALongAnswerIsTriedBitByBit(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		s := &source{}
		var says []string
		for n := 3; n < 40; n++ {
			says = append(says, peertest.AddrOf(n).String())
		}
		s.set(nil, append(says, "10.0.0.1")...)
		late := f.start(2, s.joins)
		seed := f.start(1)
		f.within(10*time.Minute, "they see each other", allSee([]*host{late, seed}, 1, 2))
	})
}
