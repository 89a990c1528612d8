package main

import (
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// servers is the default number of servers, or members, of a system.
	servers = 3
	// contenders is how many clients wait for the lock at the same time.
	contenders = 10
	// warmUp is the time before each measurement.
	warmUp = 2 * time.Second
	// raceTime is for how long locks are taken, one after the other.
	raceTime = 5 * time.Second
	// watchTime is for how long the contenders are watched after a server was killed.
	watchTime = 30 * time.Second
	// deaths is how often a holder is killed in each way.
	deaths = 3
	// settleTime is how long a system may settle before its bytes are counted, for restTime.
	settleTime, restTime = 10 * time.Second, 40 * time.Second
	// commands is how often "true" is run.
	commands = 200
)

// works waits until each client has had the lock.
func works(r running) error {
	for i := range servers {
		if err := until("a lock", func() error {
			l, err := r.dial(i)
			if err != nil {
				return err
			}
			defer l.close()
			if err := l.lock(); err != nil {
				return err
			}
			return l.unlock()
		}); err != nil {
			return err
		}
	}
	return nil
}

// spread returns the median and the 99th percentile of times, in milliseconds.
func spread(took []time.Duration) []string {
	if len(took) == 0 {
		return []string{"-", "-"}
	}
	slices.Sort(took)
	at := func(share int) string {
		return fmt.Sprintf("%.2f ms", took[(len(took)-1)*share/100].Seconds()*1000)
	}
	return []string{at(50), at(99)}
}

// alone measures a grant and its release while no other client wants the lock: by one client, and by the clients of all
// members in turn.
func (p *page) alone(s system, dir string) error {
	r, err := s.start(dir, servers)
	if err != nil {
		return err
	}
	defer r.stop()
	p.version, p.settings = r.describe()
	row := []string{s.name}
	for _, clients := range []int{1, servers} {
		var all []locker
		for i := range clients {
			l, err := r.dial(i)
			if err != nil {
				return err
			}
			defer l.close()
			all = append(all, l)
		}
		var took []time.Duration
		begun := time.Now()
		for i := 0; time.Since(begun) < warmUp+raceTime; i++ {
			l := all[i%clients]
			asked := time.Now()
			if err := l.lock(); err != nil {
				return err
			}
			if err := l.unlock(); err != nil {
				return err
			}
			if time.Since(begun) > warmUp {
				took = append(took, time.Since(asked))
			}
		}
		row = append(row, spread(took)...)
	}
	p.uncontended = append(p.uncontended, row)
	if name, argv := r.command(0); argv != nil {
		if err := p.command(name, argv); err != nil {
			return err
		}
	}
	return nil
}

// commandsInTurn runs commands by one host after the other: by ten members of wanderd, and by the servers of others in turn.
// Before each command the floor is measured.
func (p *page) commandsInTurn(s system, dir string) error {
	r, err := s.start(dir, contenders)
	if err != nil {
		return err
	}
	defer r.stop()
	if _, argv := r.command(0); argv == nil {
		return nil
	}
	f, err := newFloor(p.program, dir)
	if err != nil {
		return err
	}
	defer f.close()
	var name string
	var took, least []time.Duration
	var ratios []float64
	for i := range commands {
		floor, err := f.pass()
		if err != nil {
			return err
		}
		var argv []string
		name, argv = r.command(i)
		one, err := timed(argv)
		if err != nil {
			return err
		}
		took, least, ratios = append(took, one), append(least, floor), append(ratios, float64(one)/float64(floor))
	}
	slices.Sort(ratios)
	p.inTurn = append(p.inTurn, slices.Concat([]string{name}, spread(took), []string{
		spread(least)[0], fmt.Sprintf("%.2f", ratios[len(ratios)/2]),
	}))
	return nil
}

// contention is a number of clients that take the lock again and again.
type contention struct {
	mu    sync.Mutex
	grant []time.Time
	wait  []time.Duration
	by    map[int]int
	over  atomic.Bool
	wg    sync.WaitGroup
}

func contend(r running, clients int) *contention {
	c := &contention{by: map[int]int{}}
	for i := range clients {
		c.wg.Go(func() { c.client(r, i) })
	}
	return c
}

// client takes the lock until the race is over. It dials again after an error.
func (c *contention) client(r running, i int) {
	for !c.over.Load() {
		l, err := r.dial(i)
		for err == nil && !c.over.Load() {
			asked := time.Now()
			if err = l.lock(); err != nil {
				break
			}
			granted := time.Now()
			c.mu.Lock()
			c.grant, c.wait = append(c.grant, granted), append(c.wait, granted.Sub(asked))
			c.by[i]++
			c.mu.Unlock()
			err = l.unlock()
		}
		if l != nil {
			go l.close() // it may wait for a server that has gone
		}
		if err != nil {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// end stops the clients. It does not wait for a client that waits for a server that has gone.
func (c *contention) end() {
	c.over.Store(true)
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
}

// since returns the grants after a moment, and their waits.
func (c *contention) since(from time.Time) (grants []time.Time, waits []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, at := range c.grant {
		if at.After(from) {
			grants, waits = append(grants, at), append(waits, c.wait[i])
		}
	}
	return grants, waits
}

// contended lets ten clients wait for the lock all the time.
func (p *page) contended(s system, dir string) error {
	r, err := s.start(dir, contenders)
	if err != nil {
		return err
	}
	defer r.stop()
	c := contend(r, contenders)
	time.Sleep(warmUp)
	from := time.Now()
	time.Sleep(raceTime)
	grants, waits := c.since(from)
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := len(c.grant), 0
	for i := range contenders {
		least, most = min(least, c.by[i]), max(most, c.by[i])
	}
	row := append([]string{s.name, fmt.Sprintf("%.0f", float64(len(grants))/raceTime.Seconds())}, spread(waits)...)
	p.contending = append(p.contending, append(row, fmt.Sprintf("%d, %d", least, most)))
	return nil
}

// killHolders measures for how long nobody has the lock when its holder is killed: from the kill until a client that
// waited has it.
func (p *page) killHolders(s system, dir string) error {
	r, err := s.start(dir, servers)
	if err != nil {
		return err
	}
	defer r.stop()
	for _, v := range r.holders() {
		var pauses []string
		for range deaths {
			strike, err := v.prepare()
			if err != nil {
				return err
			}
			l, err := r.dial(1)
			if err != nil {
				return err
			}
			granted := make(chan error, 1)
			go func() { granted <- l.lock() }()
			time.Sleep(time.Second)
			killed := time.Now()
			strike()
			if err := <-granted; err != nil {
				pauses = append(pauses, fmt.Sprintf("%s after %.1f s", err, time.Since(killed).Seconds()))
			} else {
				pauses = append(pauses, fmt.Sprintf("%.2f s", time.Since(killed).Seconds()))
				_ = l.unlock()
			}
			l.close()
			if f, ok := r.(*fleet); ok {
				if err := f.Start(time.Minute); err != nil {
					return err
				}
			}
		}
		p.holderDeaths = append(p.holderDeaths, append([]string{s.name, v.what}, pauses...))
	}
	return nil
}

// killServer measures the longest time without any grant after a server or a member was killed, while the clients of
// all of them contend.
func (p *page) killServer(s system, dir string) error {
	r, err := s.start(dir, servers)
	if err != nil {
		return err
	}
	defer r.stop()
	v, clients := r.server(), servers
	if v.spared {
		clients--
	}
	c := contend(r, clients)
	time.Sleep(warmUp)
	strike, err := v.prepare()
	if err != nil {
		return err
	}
	killed := time.Now()
	strike()
	time.Sleep(watchTime)
	grants, _ := c.since(killed)
	c.end()
	longest, last := time.Duration(0), killed
	for _, at := range append(grants, killed.Add(watchTime)) {
		longest, last = max(longest, at.Sub(last)), at
	}
	said := fmt.Sprintf("%.2f s", longest.Seconds())
	if longest > watchTime*9/10 {
		said = fmt.Sprintf("none granted within %s", watchTime)
	}
	p.serverDeaths = append(p.serverDeaths, []string{s.name, v.what, said})
	return nil
}

// command runs a command again and again.
func (p *page) command(name string, argv []string) error {
	var took []time.Duration
	for range commands {
		one, err := timed(argv)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	p.commands = append(p.commands, append([]string{name}, spread(took)...))
	return nil
}

// timed returns how long a process takes from its start to its end.
func timed(argv []string) (time.Duration, error) {
	begun := time.Now()
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %s", argv, err, out)
	}
	return time.Since(begun), nil
}
