package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Format is the format of a table.
type Format string

// The formats, by the names that users give them.
const (
	Text     Format = "table"
	Markdown Format = "markdown"
	CSV      Format = "csv"
)

// ParseFormat returns the format with that name.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Text, Markdown, CSV:
		return f, nil
	}
	return "", fmt.Errorf("there is no format %q: choose %s, %s or %s", name, Text, Markdown, CSV)
}

// Table has rows and columns. The first column names the rows; the others are numbers, aligned right.
type Table struct {
	Title  string     `json:"title"`
	Header []string   `json:"header"`
	Rows   [][]string `json:"rows"`
	// Notes are sentences about the table as a whole. A CSV file has neither notes nor title.
	Notes []string `json:"notes"`
}

// Render writes the table; it ends with a newline.
func (t Table) Render(f Format) string {
	switch f {
	case Markdown:
		return t.around("**"+t.Title+"**\n\n", "\n", t.writer().RenderMarkdown())
	case CSV:
		return strings.ReplaceAll(t.writer().RenderCSV(), Missing, "") + "\n"
	case Text:
	}
	lines := strings.Split(t.writer().Render(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return t.around(t.Title+"\n", "", strings.Join(lines, "\n"))
}

// around puts title and notes around the body, with gaps between.
func (t Table) around(title, gap, body string) string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(title)
	}
	b.WriteString(body + "\n")
	for _, n := range t.Notes {
		b.WriteString(gap + n + "\n")
	}
	return b.String()
}

func (t Table) writer() table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	style := w.Style()
	style.Format.Header = text.FormatDefault
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	columns := make([]table.ColumnConfig, len(t.Header))
	for i := range columns {
		columns[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	if len(columns) > 0 {
		columns[0].Align, columns[0].AlignHeader = text.AlignLeft, text.AlignLeft
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(cells(t.Header))
	for _, r := range t.Rows {
		w.AppendRow(cells(r))
	}
	return w
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, s := range texts {
		row[i] = s
	}
	return row
}
