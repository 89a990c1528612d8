package settings

import (
	"fmt"
	"strconv"
)

// Form is how a value may be written in a file.
type Form uint8

const (
	// asText is a string, and asDuration one with a unit in it.
	asText Form = iota
	asDuration
	asWhole
	// AsShare is a number, or a string with a percentage.
	AsShare
	asBool
	asList
	// asCommand is a string or an array of them.
	asCommand
	// asLines is a string with semicolons, or an array of strings.
	asLines
)

// accept takes a decoded value, if it has a type that the form allows.
func (f Form) accept(decoded any) (g given, err error) {
	isNumber, fits := false, false
	switch v := decoded.(type) {
	case string:
		g.text, fits = v, f == asText || f == asDuration || f == AsShare || f == asCommand || f == asLines
	case bool:
		g.text, fits = strconv.FormatBool(v), f == asBool
	case int64:
		g.text, isNumber, fits = strconv.FormatInt(v, 10), true, f == asWhole || f == AsShare
	case float64:
		g.text, isNumber, fits = strconv.FormatFloat(v, 'g', -1, 64), true, f == AsShare
	case []any:
		g.list, g.isList = texts(v)
		fits = g.isList && (f == asList || f == asCommand || f == asLines)
	}
	switch {
	case fits:
	case f == asDuration && isNumber:
		err = fmt.Errorf("is a number: a duration needs a unit and quotes, as in \"%ss\" or \"%[1]sm\"", g.text)
	default:
		err = fmt.Errorf("is %s: want %s", KindOf(decoded), f.want())
	}
	return g, err
}

// want describes the form to a person.
func (f Form) want() string {
	return [...]string{
		asText: "text in quotes", asDuration: "a duration in quotes, as in \"10m\"",
		asWhole: "a whole number, without quotes",
		AsShare: "a share, as in 0.01 or \"1%\"", asBool: "true or false, without quotes",
		asList:    "an array of texts, as in [\"10.0.0.7\"]",
		asCommand: "text, or an array of texts, as in [\"./sync.sh\", \"--fast\"]",
		asLines:   "text in quotes, or an array of such texts",
	}[f]
}

// texts returns the elements of an array of texts, and whether the array has only texts.
func texts(elements []any) ([]string, bool) {
	list := make([]string, 0, len(elements))
	for _, e := range elements {
		text, ok := e.(string)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}

// KindOf names the type of a decoded value to a person.
func KindOf(decoded any) string {
	switch v := decoded.(type) {
	case string:
		return "text"
	case int64, float64:
		return "a number"
	case bool:
		return "true or false"
	case map[string]any, []map[string]any:
		return "a table"
	case []any:
		if _, ok := texts(v); !ok {
			return "an array of other things than texts"
		}
		return "an array"
	}
	return "a date or time"
}
