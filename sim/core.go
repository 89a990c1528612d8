package sim

import "time"

// Core is a part of the members for which alone all faults end: the others keep theirs for a while, and the core has to
// go on without them.
type Core struct {
	// Of is the number of members in the core, drawn from all; zero means that there is no core. Stays is what is wrong
	// with the others.
	Of    int
	Stays Stays
}

// Stays is what is wrong with a member outside of a core.
type Stays uint8

const (
	// StaysAsItIs leaves a member as the faults have left it: down, away, deaf, mute, or quite well.
	StaysAsItIs Stays = iota
	// StaysDown: its host is off.
	StaysDown
	// StaysDeaf: it hears nothing.
	StaysDeaf
	// StaysMute: nobody hears it.
	StaysMute
	// StaysAway: its process is paused.
	StaysAway
	// StaysStuck: its saves do not end.
	StaysStuck
	// StaysApart: it is on another side of the network.
	StaysApart
	// StaysDrawn draws one of these for each member.
	StaysDrawn

	staysEnd
)

// String returns a word.
func (s Stays) String() string {
	return [staysEnd]string{"as it is", "down", "deaf", "mute", "away", "stuck", "apart", "drawn"}[s]
}

// DrawStays draws what is wrong with all members outside of a core.
func (d Dice) DrawStays() Stays { return Stays(d.IntN(int(staysEnd))) }

// In draws which members of a fleet are in the core.
func (k *Core) In(seed uint64, members int) (core []bool) {
	core = make([]bool, members)
	for _, i := range NewDice(seed, 12).Perm(members)[:k.Of] {
		core[i] = true
	}
	return core
}

// HealCore ends all faults as the end of [Cluster.StartFaults] does, but for a core only. The other members keep what
// is wrong with them for that time, until [Cluster.EndStanding].
func (c *Cluster) HealCore(core []bool, what Stays, n Network, lasts time.Duration) {
	f, dice := c.faults, NewDice(c.cfg.Seed, 13)
	c.outside = map[int]bool{}
	for i, in := range core {
		if in {
			c.Deafen(i, false)
			c.Mute(i, false)
		}
	}
	clear(c.net.oneWay.apart)
	c.Heal()
	c.SetNetwork(n)
	f.over = true
	f.mend()
	sides, parted := make([]uint8, len(core)), false
	for i, in := range core {
		if in {
			f.keepUp(i)
			continue
		}
		stays := what
		if stays == StaysDrawn {
			stays = Stays(dice.IntN(int(StaysDrawn)))
		}
		if stays == StaysApart {
			sides[i], parted = 1, true
		}
		c.outside[i] = true
		c.stay(i, stays, lasts)
	}
	f.resume()
	if parted {
		c.Divide(sides, false)
	}
}

// stay begins what is wrong with a member outside of a core.
func (c *Cluster) stay(i int, stays Stays, lasts time.Duration) {
	switch stays {
	case StaysDown:
		c.PowerCut(i)
	case StaysDeaf:
		c.Deafen(i, true)
	case StaysMute:
		c.Mute(i, true)
	case StaysAway:
		c.Pause(i, lasts)
	case StaysStuck:
		c.SetDisk(i, Disk{Hangs: 1})
	case StaysAsItIs, StaysApart, StaysDrawn, staysEnd:
	}
}

// IsOutside reports whether something is still wrong with a member outside of a core.
func (c *Cluster) IsOutside(member int) bool { return c.outside[member] }

// EndStanding ends the faults that have stayed outside of a core.
func (c *Cluster) EndStanding(n Network) {
	outside := c.outside
	c.outside = nil
	c.Repair(n)
	c.mendDisks()
	for i := range c.members {
		if outside[i] {
			c.faults.keepUp(i)
		}
	}
}
