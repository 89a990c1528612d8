package cli

import (
	"encoding/json"
	"io"
)

// WriteJSON writes v, indented, with the fields of structs in the order in which they are declared and the keys of maps
// in alphabetical order: the same v gives the same bytes.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
