package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// page has the measurements, as rows of tables.
type page struct {
	begun time.Time
	// version and settings are those of the system that races.
	version, settings string
	// program is wanderd.
	program string

	racers, uncontended, contending, holderDeaths, serverDeaths, resting, commands, inTurn, skipped [][]string
}

func (p *page) skip(name, why string) { p.skipped = append(p.skipped, []string{name, why}) }

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

func machine() string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name\t: "); ok {
			model, _, _ = strings.Cut(rest, "\n")
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%d cores (%s), Linux %s, %s", runtime.NumCPU(), model, strings.TrimSpace(string(kernel)),
		runtime.Version())
}

func (p *page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Races

Locks of several systems on one machine, one system after the other. This page is written by

    go -C lab/races run . --write ../../docs

on %s; nothing on it is typed by hand. The machine: %s. All servers, members and clients share it over
loopback. Their files are in %s, on the same disk.

`, p.begun.UTC().Format(time.DateOnly), machine(), os.TempDir())
	table := func(title, text string, head []string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| %s |\n|%s\n", title, text, strings.Join(head, " | "),
			strings.Repeat("---|", len(head)))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
		b.WriteString("\n")
	}
	table("Who races", "Load is the machine's load average over one minute, before and after the system raced.",
		[]string{"system", "version", "settings", "load"}, p.racers)
	table("A grant and its release", fmt.Sprintf("Nobody else wants the lock. First one client asks for %s, then the "+
		"clients of three servers or members ask in turn, for the same time.", raceTime),
		[]string{
			"system", "one client: median", "99th percentile", "in turn: median", "99th percentile",
		}, p.uncontended)
	table("Ten that contend", "Each client asks again as soon as it has released the lock. wanderd has ten members "+
		"here, all of them in the roster. The others have ten clients of their servers.",
		[]string{
			"system", "grants a second", "wait: median", "99th percentile", "grants of the least, most served",
		}, p.contending)
	table("The holder is killed", fmt.Sprintf("The pause is the time from kill -9 until a client at another server "+
		"or member is granted the lock. Each case is measured %d times.", deaths),
		append([]string{"system", "killed"}, slices.Repeat([]string{"pause"}, deaths)...), p.holderDeaths)
	table("A server or a member is killed", fmt.Sprintf("The clients of three servers, or of the two other members, "+
		"contend. The pause is the longest time without any grant in the %s after kill -9.", watchTime),
		[]string{"system", "killed", "pause"}, p.serverDeaths)
	table("Bytes at rest", fmt.Sprintf("Three servers or members without any client, each in its own network "+
		"namespace. Bytes are on the wire, per minute, with all headers, counted for %s. "+
		"Messages are wanderd's datagrams that are not gossip. A strict gate at rest sends none, and a gate on call "+
		"neither. The token of a soft gate otherwise goes round all the time.", restTime),
		[]string{"system", "all", "each", "messages"}, p.resting)
	table("A command under a lock", fmt.Sprintf("The time of a process from its start to its end, %d times one after "+
		"the other. Nobody else wants the lock.", commands),
		[]string{"command", "median", "99th percentile"}, p.commands)
	table("A command by ten hosts in turn", fmt.Sprintf("The same, but each command asks at another host: at ten members "+
		"of wanderd, at the servers of others. Nobody else wants the lock. Before each of the %d commands the floor is "+
		"measured: the starts of wanderd, of its guard and of \"true\", three round trips between two sockets, signed "+
		"and verified, and one durable save, one after the other. The last column is the median of what a command takes "+
		"in floors.", commands),
		[]string{"command", "median", "99th percentile", "floor: median", "in floors"}, p.inTurn)
	table("Skipped", "These did not race here.", []string{"system", "why"}, p.skipped)
	return strings.TrimRight(b.String(), "\n") + "\n"
}
