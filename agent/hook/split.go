package hook

import (
	"fmt"
	"strings"
)

// operators have a meaning for a shell when they are not quoted.
const operators = "|&;<>()"

// Split splits the text of --hook into a program and its arguments, by the quoting rules of the POSIX shell: blanks
// separate words; a backslash and single quotes keep everything, double quotes everything but \", \\, \$ and \`.
//
// Nothing is expanded and no shell runs. Text that would need a shell (an operator, or a $ or a backquote that is not
// quoted) is an error, so that an "a && b" never silently becomes an argument. Errors name the position, counted from 1
// in bytes.
func Split(s string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
	)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
			continue
		case c == '\\':
			if i+1 == len(s) {
				return nil, fmt.Errorf("position %d: a backslash at the end quotes nothing", i+1)
			}
			i++
			word.WriteByte(s[i])
		case c == '\'':
			length := strings.IndexByte(s[i+1:], '\'')
			if length < 0 {
				return nil, fmt.Errorf("position %d: this ' is never closed", i+1)
			}
			word.WriteString(s[i+1 : i+1+length])
			i += length + 1
		case c == '"':
			end, err := splitDouble(s, i, &word)
			if err != nil {
				return nil, err
			}
			i = end
		case c == '$' || c == '`' || strings.IndexByte(operators, c) >= 0:
			return nil, needsShell(i, c)
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// splitDouble reads the double quotes that open at s[open] into word and returns where they close.
func splitDouble(s string, open int, word *strings.Builder) (end int, err error) {
	for i := open + 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return i, nil
		case '$', '`':
			return 0, needsShell(i, c)
		case '\\':
			if i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
				i++
			}
			word.WriteByte(s[i])
		default:
			word.WriteByte(c)
		}
	}
	return 0, fmt.Errorf("position %d: this \" is never closed", open+1)
}

func needsShell(i int, c byte) error {
	return fmt.Errorf("position %d: %q means something only to a shell, and none runs: put it in single quotes, "+
		"or ask for a shell: sh -c '…'", i+1, c)
}
