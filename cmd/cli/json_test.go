package cli

import (
	"bytes"
	"testing"
)

func TestJSONIsReadableAndTheSameEveryTime(t *testing.T) {
	v := struct {
		B string         `json:"b"`
		A map[string]int `json:"a"`
	}{"<&>", map[string]int{"z": 1, "y": 2, "x": 3}}
	const want = "{\n  \"b\": \"<&>\",\n  \"a\": {\n    \"x\": 3,\n    \"y\": 2,\n    \"z\": 1\n  }\n}\n"
	for range 10 {
		var b bytes.Buffer
		if err := WriteJSON(&b, v); err != nil || b.String() != want {
			t.Fatalf("%s, %v", b.String(), err)
		}
	}
}
