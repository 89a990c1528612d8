package plan

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/wanderd/wanderd/sim/measure"
)

// textWidth is how many columns paragraphs have at most.
const textWidth = 90

// layout is the answer for people: what to do first, then what to expect, and how to read it. A paragraph between « and » is wrapped,
// and indented by as many columns as it begins with.
const layout = `{{$k := .Constants}}{{$many := gt $k.Slots 1}}{{$e := .Expected}}{{$t := .Traffic}}{{$l := .Loss}}{{$b := .Twice -}}
{{.Wish.Members}} members, each to run {{written .Wish.Op}} every {{written .Wish.Every}}: that {{if .Met}}can{{else}}CANNOT{{end}} be met.
{{range .Warnings}}
«Warning: {{.}}.»
{{end}}{{if .Changes}}
Any one of these would do, the rest as it is:
{{range .Changes}}  {{.}}
{{end}}{{end}}
{{if .Met}}What to set{{else}}What comes nearest{{end}}
{{lines .TOML}}
  or  {{flags .Command}}

{{with .Nights}}In its windows
{{range .Windows}}  {{.}}
{{end}}«  {{nights .}}»

{{end}}What to expect, in the long run{{if .Nights}}, without windows{{end}}
{{row "load" (printf "%.2f" .Load)}}op × members / {{if $many}}(every × slots){{else}}every{{end}}; by min_interval it is {{printf "%.2f" .LoadInForce}}
{{row "busy" (share $e.Busy)}}of the time {{if $many}}each token is in use{{else}}somebody runs{{end -}}
	{{if $e.FromTheory}}, in theory{{else}}; in theory {{percent $e.Theory.Busy}}{{end}}
{{row "overlap" (share $e.Overlap)}}of the time {{if $many}}more than {{$k.Slots}} run{{else}}two or more run{{end}}
{{row "false alarms" (rate $e.FalseAlarms)}}tokens made or revived although there is one, and removed again

{{columns "" "mean" "half of them" "90 %" "99 %" "longest seen"}}
{{spread "wait for the token" $e.Wait}}
{{spread "between two runs" $e.Interval}}

What it costs the network
{{row "datagrams" (perSecond $t.FleetDatagrams "/s")}}sent in the whole fleet; by each member {{perSecond $t.MemberDatagrams "/s"}}
{{row "bytes" (perSecond $t.FleetBytes "B/s")}}in the whole fleet, {{$t.DatagramBytes}} a datagram with its headers; by each member {{perSecond $t.MemberBytes "B/s"}}
{{row "gossip" (print "~ " (perSecond $t.GossipBytes "B/s"))}}by each member besides; an estimate, once for all gates of a fleet

What if
  all members start at once:
«    the first round takes at least {{spoken .FirstRound}}, {{if $many}}{{$k.Slots}} runs at once{{else}}one run after the other{{end}}.»
  the holder{{if $many}} of a token{{end}} is killed:
«    {{if $many}}one token less, and one run less at once,{{else}}no token, and no run,{{end}} for
	{{if $l.Samples}}{{number $l.Silence}} (longest of {{$l.Samples}} losses: {{number $l.LongestSilence}})
	{{- else if $k.Backups}}about {{spoken .Revival}}{{else}}up to max_interval, {{written $k.MaxInterval}}{{end}}
	{{- if $k.Backups}}; then a guardian revives it{{if gt $l.Crowd $k.Slots}}, and up to {{$l.Crowd}} run at once{{end}}.
	If all its guardians are killed with it, for up to max_interval, {{written $k.MaxInterval}}
	{{- else if $l.Samples}}
		{{- if gt $l.Crowd $k.Slots}}; then several members make a new one, and up to {{$l.Crowd}} run at once{{end}}
		{{- if $l.Recovered}}; {{number $l.Recovery}} after the loss there is one token{{if $many}} for each slot{{end}} again
			{{- if lt $l.Recovered $l.Samples}} ({{$l.Recovered}} of the {{$l.Samples}}; the others were not watched to the end){{end}}
		{{- else}}; none was watched to the end of that{{end}}
		{{- with .ShorterMaxInterval}}. A max_interval of {{written .}} would make the silence shorter, and in theory give no more than
		about one false alarm every {{written $.Wish.Every}}{{end}}
	{{- end}}.»
  there are twice the members:
«    {{if $b.FromTheory}}in theory, {{end}}load {{printf "%.2f" $b.Load}} by min_interval, {{share $b.Busy}} busy, a run every {{number $b.Interval.Mean.Mean}}
	{{- if not $b.FromTheory}} (99 % within {{number $b.Interval.P99}}), overlap {{share $b.Overlap}}{{end}}.»

How to read this
«A member is due min_interval after the start of its last run, and then waits until {{if $many}}a{{else}}the{{end}} token comes by.
	{{$lap := spoken $e.Theory.Lap}}{{$walk := $k.Walk.String -}}
	{{if and (eq $walk "random") $many}}The tokens walk at random, each of them everywhere: a member may wait several times as long for
	the first of them as it does on average, and it takes about {{$lap}} until everybody has seen one.
	{{- else if eq $walk "random"}}The token walks at random: that takes as many hops as there are members on average, but sometimes
	several times as many, and about {{$lap}} until the token has been with everybody.
	{{- else if and (eq $walk "shuffle") $many}}Each token visits everybody once in a lap, which takes about {{$lap}}, in a fresh order
	each time, and a member runs under the first that comes.
	{{- else if eq $walk "shuffle"}}The token visits everybody once in a lap, which takes about {{$lap}}, in a fresh order each time:
	that is little more than half a lap on average, and never more than two.
	{{- else}}{{if $many}}The {{$k.Slots}} tokens share the members: each goes round its own part of them in one order, a lap in about
	{{$lap}}{{else}}The token goes round in one order, a lap in about {{$lap}}{{end}}, and a member that will be due within a lap of skips
	keeps it until then. So the members soon become due in the order in which it comes, and hardly anybody waits for long but those
	who have just joined.{{end}}
	{{if lt $k.MinInterval .Wish.Every}}That is why min_interval is every less the mean wait{{else if .Met}}That is why min_interval is
	every itself{{else}}min_interval is every itself, so that at least nobody runs more often than wished{{end}}: runs are every
	{{number $e.Interval.Mean.Mean}} on average, and never closer than min_interval.»

{{if not $e.Simulated.Seeds -}}
«The figures are from theory: to simulate so many members with this walk, or so long an every, would take too long.»
{{else}}{{if $e.FromTheory -}}
«The share of busy time and the times are from theory: the simulation was too short for so long an every.»
{{end -}}
«The figures are measured: {{$e.Simulated.Seeds}} simulated fleets of {{$e.Members}} members, {{spoken $e.Simulated.Duration}} in all,
	{{$e.Simulated.Operations}} runs, with the code that an agent runs
	{{- if $b.Simulated.Seeds}} ({{$b.Simulated.Seeds}} fleets of twice the members, {{spoken $b.Simulated.Duration}},
	{{$b.Simulated.Operations}} runs){{end}}.
	{{if .Unguarded}}They are without guardians, who have nothing to do while nothing is lost; what these send is computed.{{end}}
	± is where the mean lies with 95 % confidence. A run takes between half of op and one and a half, a datagram
	{{written .Latency}}, and {{percent .Wish.Loss}} of them get lost. {{if eq $walk "sweep"}}Members take their turns as in a fleet that
	has started all at once{{else}}Members' turns are spread evenly, as they are long after a start{{end}}.»
{{end}}`

// Text writes the answer for people.
func (a *Answer) Text(w io.Writer) error {
	page := template.Must(template.New("").Funcs(template.FuncMap{
		"written": written, "spoken": spoken, "number": number, "percent": percent, "share": share, "rate": rate, "perSecond": perSecond,
		"columns": columns, "flags": flags,
		"nights": func(n *Nights) string { return n.text() },
		"lines": func(text string) string {
			return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
		},
		"row": func(name, figure string) string { return fmt.Sprintf("  %-13s %15s  ", name, figure) },
		"spread": func(name string, q Quantiles) string {
			return columns(name, number(q.Mean.Mean), number(q.P50), number(q.P90), number(q.P99), number(q.Longest))
		},
	}).Parse(layout))
	var text strings.Builder
	if err := page.Execute(&text, a); err != nil {
		return err
	}
	_, err := io.WriteString(w, regexp.MustCompile("(?s)«.*?»").ReplaceAllStringFunc(text.String(), wrap))
	return err
}

// Revival is in how many seconds guardians take up a token again.
func (a *Answer) Revival() float64 { return patiencesToRevive * patience(&a.Constants).Seconds() }

// ShorterMaxInterval is a max_interval that is worth a thought; zero if there is none.
func (a *Answer) ShorterMaxInterval() time.Duration {
	if a.Loss.ShortestMaxInterval < 0.9*a.Constants.MaxInterval.Seconds() {
		return seconds(a.Loss.ShortestMaxInterval)
	}
	return 0
}

// Unguarded says that the guardians were not simulated.
func (a *Answer) Unguarded() bool { return a.Constants.Backups > 0 && !watched(&a.Wish, &a.Constants) }

// Latency is how long a datagram is under way.
func (a *Answer) Latency() time.Duration { return a.Wish.latency() }

// columns is a line of a table.
func columns(name string, cells ...any) string {
	return fmt.Sprintf("  %-19s"+strings.Repeat(" %12s", len(cells)), append([]any{name}, cells...)...)
}

// flags is a command line, on several lines if it is long.
func flags(command string) string {
	var lines []string
	for i, flag := range strings.Split(command, " --") {
		last := len(lines) - 1
		switch {
		case i == 0:
			lines = append(lines, flag)
		case len("  or  ")+len(lines[last])+len("--")+len(flag) > textWidth:
			lines = append(lines, "  --"+flag)
		default:
			lines[last] += " --" + flag
		}
	}
	return strings.Join(lines, " \\\n      ")
}

// wrap breaks a paragraph into lines.
func wrap(paragraph string) string {
	text := strings.Trim(paragraph, "«»")
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && len([]rune(line))+1+len([]rune(word)) > textWidth {
			lines.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return lines.String() + line
}

// number writes a time.
func number(n measure.Number) string { return spoken(float64(n)) }

// percent writes a share to three digits, and to no less than a hundredth of a percent.
func percent(s float64) string {
	p := 100 * s
	switch {
	case math.IsNaN(p):
		return "–"
	case p > 0 && p < 0.01:
		return "< 0.01 %"
	case p < 1:
		return fmt.Sprintf("%.2g %%", p)
	}
	return fmt.Sprintf("%.3g %%", p)
}

// share writes a share with its confidence.
func share(e measure.Estimate) string {
	half := float64(e.Half)
	if float64(e.Mean) == 0 || math.IsNaN(half) || half < 0.0005 {
		return percent(float64(e.Mean))
	}
	return fmt.Sprintf("%.1f ± %.1f %%", 100*float64(e.Mean), 100*half)
}

// rate writes how often something happens.
func rate(perDay measure.Estimate) string {
	switch n := float64(perDay.Mean); {
	case math.IsNaN(n):
		return "–"
	case n == 0:
		return "none seen"
	case n >= 1:
		return fmt.Sprintf("%.2g a day", n)
	default:
		return "one in " + spoken(secondsPerDay/n)
	}
}

// perSecond writes a rate; what is less than one in a hundred seconds is written by the hour.
func perSecond(n float64, unit string) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.3g M%s", n/1e6, unit)
	case n >= 1e3:
		return fmt.Sprintf("%.3g k%s", n/1e3, unit)
	case n >= 100:
		return fmt.Sprintf("%.0f %s", n, unit)
	case n < 0.01:
		return fmt.Sprintf("%.2g %s", 3600*n, strings.TrimSuffix(unit, "s")+"h")
	}
	return fmt.Sprintf("%.2g %s", n, unit)
}
