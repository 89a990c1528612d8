package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// watchModel is the screen of "status --watch", a [tea.Model]: what it shows depends only on the messages that it has
// received.
type watchModel struct {
	seen follow.Snapshot
	// gates are the names of the gates in seen.
	gates []string
	// gate is the index of the gate that is shown; top is the index of the first member that is shown.
	gate, top     int
	width, height int
	help          bool
	// zone is the time zone of the displayed times of day.
	zone *time.Location
}

// widthOf and heightOf are the size of the screen until the terminal reports its own.
const (
	usualWidth  = 80
	usualHeight = 24
)

func newWatchModel(zone *time.Location) watchModel {
	return watchModel{
		width: usualWidth, height: usualHeight, zone: zone, seen: follow.Snapshot{Fleet: &control.Fleet{}},
	}
}

func (m watchModel) Init() tea.Cmd { return nil }

func (m watchModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case follow.Snapshot:
		m.seen, m.gates = msg, follow.Gates(msg.Fleet)
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "ctrl+c", "esc":
			return m, tea.Quit
		case "?":
			m.help = !m.help
		case "tab":
			m.gate, m.top = m.gate+1, 0
		case "down", "j":
			m.top++
		case "up", "k":
			m.top--
		}
	}
	m.gate %= max(len(m.gates), 1)
	m.top = min(max(m.top, 0), max(len(m.rows())-1, 0))
	return m, nil
}

// rows returns the members of the gate that is shown.
func (m *watchModel) rows() []follow.Row {
	if len(m.gates) == 0 {
		return nil
	}
	return m.seen.Rows(m.gates[m.gate])
}

func (m watchModel) View() tea.View {
	view := tea.NewView(strings.Join(m.lines(), "\n"))
	view.AltScreen = true
	view.WindowTitle = "wanderd"
	return view
}

const watchHelp = `q, Esc, Ctrl-C   quit
?                this help, on and off
Tab              the next gate
Down, Up, j, k   other members

●  this member holds the token      ▶  it runs
!  its last run failed              ?  it does not answer

Who has the token is asked twice a second, all members every five seconds.`

// styles of a part of a line.
const (
	plain  = ""
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	dim    = "\x1b[2m"
	normal = "\x1b[0m"
)

// styled cuts text to the width of the screen, and gives it a style.
func (m *watchModel) styled(style, text string) string {
	if runes := []rune(text); len(runes) > m.width {
		text = string(runes[:max(m.width-1, 0)]) + "…"
	}
	if style == plain {
		return text
	}
	return style + text + normal
}

// lines returns the lines of the screen, at most as many as it has.
func (m *watchModel) lines() []string {
	if m.help {
		return m.fitted(strings.Split(watchHelp, "\n"))
	}
	now := m.seen.At.In(m.zone)
	lines := []string{m.styled(dim, m.title())}
	if m.seen.Error != "" {
		lines = append(lines, m.styled(red, printable(m.seen.Error)))
	}
	if len(m.gates) == 0 {
		return m.fitted(append(lines, "waiting for the first answers…"))
	}
	gate := m.gates[m.gate]
	heading := "gate " + printable(gate)
	if len(m.gates) > 1 {
		heading += fmt.Sprintf(" (%d of %d)", m.gate+1, len(m.gates))
	}
	lines = append(lines, m.styled(bold, heading))
	var holders []control.Holder
	for i := range m.seen.Tokens {
		if t := &m.seen.Tokens[i]; t.Gate == gate {
			holders = append(holders, t.Holder)
			lines = append(lines, m.styled(plain, "  token   "+holderText(&t.Holder, now)),
				m.styled(green, "          "+trailText(t)))
		}
	}
	lines = append(lines, m.styled(bold, "  runs    "+runnersText(holders, now)))
	rows := m.rows()
	if r := follow.LastFailure(rows); r != nil {
		lines = append(lines,
			m.styled(red, fmt.Sprintf("  failed  %s, %s: %s", printable(r.Name), ago(r.LastRun, now),
				printable(r.Result))))
	}
	lines = append(lines, m.styled(plain, "  next    "+nextText(rows, now)))
	if homes := follow.Homes(rows); len(homes) > 0 {
		lines = append(lines, m.styled(plain, "  homes   "+homesText(homes, now)))
	}
	lines = append(lines, "")
	return m.fitted(append(lines, m.table(rows, now, m.height-len(lines))...))
}

func (m *watchModel) title() string {
	missing := follow.Silent(m.seen.Fleet)
	title := count(uint64(len(m.seen.Fleet.Members)), "member")
	if missing > 0 {
		title += fmt.Sprintf(", %d do not answer", missing)
	}
	return title + ", " + m.seen.At.In(m.zone).Format(time.TimeOnly) + "   q quits, ? helps"
}

// fitted cuts lines to the height of the screen.
func (m *watchModel) fitted(lines []string) []string {
	return lines[:min(len(lines), max(m.height, 1))]
}

// trailText shows where a token came from.
func trailText(t *follow.Token) string {
	names := slices.Clone(t.Trail)
	for i := range names {
		names[i] = printable(names[i])
	}
	if len(names) > 0 && t.Missing == "" {
		names[len(names)-1] = "● " + names[len(names)-1]
	}
	return strings.Join(names, " → ")
}

// nextText names the members that are due: those that wait for the token, or else the first that will be due.
func nextText(rows []follow.Row, now time.Time) string {
	waiting, first := follow.Next(rows, now)
	for i := range waiting {
		waiting[i] = printable(waiting[i])
	}
	const named = 6
	switch {
	case len(waiting) > named:
		return fmt.Sprintf("with the token: %s and %d more", strings.Join(waiting[:named], ", "), len(waiting)-named)
	case len(waiting) > 0:
		return "with the token: " + strings.Join(waiting, ", ")
	case first != nil:
		return fmt.Sprintf("%s in %s (%s)", printable(first.Name), rough(first.NextRun.Sub(now)),
			clock(first.NextRun, now))
	}
	return "nobody"
}

// table has a line for each member of a gate, starting with the first that is shown.
func (m *watchModel) table(rows []follow.Row, now time.Time, height int) []string {
	longest := len("NAME")
	for i := range m.seen.Fleet.Members {
		longest = max(longest, len([]rune(printable(m.seen.Fleet.Members[i].Name))))
	}
	line := func(mark, name string, cells ...string) string {
		return fmt.Sprintf("%s %-*s  %-19s  %-8s  %-14s  %s", mark, longest, name, cells[0], cells[1], cells[2],
			cells[3])
	}
	lines := []string{m.styled(dim, line(" ", "NAME", "LAST RUN", "TOOK", "NEXT RUN", "NOW"))}
	for i := m.top; i < len(rows) && len(lines) < height; i++ {
		r := &rows[i]
		name := printable(r.Name)
		if r.Gate == nil {
			lines = append(lines, m.styled(dim, line("?", name, "", "", "", printable(r.Missing))))
			continue
		}
		cells := rowText(r, now)
		last, took, result, next, doing := cells[0], cells[1], cells[2], cells[3], cells[4]
		mark, style := " ", plain
		if r.Failed {
			mark, style, doing = "!", red, result+"; "+doing
		}
		if r.Holding {
			mark, style = "●", cmp.Or(style, green)
		}
		if r.Holding && r.Running {
			mark, style, doing = "▶", bold, "runs "+since(r.RunningSince, now)
		}
		lines = append(lines, m.styled(style, line(mark, name, last, took, next, doing)))
	}
	return lines
}
