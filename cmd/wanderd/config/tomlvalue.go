package config

import (
	"fmt"
	"strconv"

	"github.com/wanderd/wanderd/cmd/wanderd/tomlfile"
)

// fromTOML makes a raw value of a decoded one, if it has the type that the setting wants.
func fromTOML(s Setting, value any) (raw, error) {
	switch s.Kind {
	case Text, Path:
		if text, ok := value.(string); ok {
			return raw{text: text}, nil
		}
		return raw{}, fmt.Errorf("is %s: want text in quotes", tomlfile.KindOf(value))
	case Time:
		switch v := value.(type) {
		case string:
			return raw{text: v}, nil
		case int64, float64:
			return raw{}, fmt.Errorf("is a number: a duration needs a unit and quotes, as in \"%vs\" or \"%[1]vm\"", v)
		}
		return raw{}, fmt.Errorf("is %s: want a duration in quotes, as in \"10m\"", tomlfile.KindOf(value))
	case Number:
		if n, ok := value.(int64); ok {
			return raw{text: strconv.FormatInt(n, 10)}, nil
		}
		return raw{}, fmt.Errorf("is %s: want a whole number, without quotes", tomlfile.KindOf(value))
	case Bool:
		if b, ok := value.(bool); ok {
			return raw{text: fmt.Sprint(b)}, nil
		}
		return raw{}, fmt.Errorf("is %s: want true or false, without quotes", tomlfile.KindOf(value))
	case List:
		if list, ok := tomlfile.Texts(value); ok {
			return raw{list: list, isList: true}, nil
		}
		return raw{}, fmt.Errorf("is %s: want an array of texts, as in [\"10.0.0.7\"]", tomlfile.KindOf(value))
	case Command:
		if text, ok := value.(string); ok {
			return raw{text: text}, nil
		}
		if list, ok := tomlfile.Texts(value); ok {
			return raw{list: list, isList: true}, nil
		}
		return raw{}, fmt.Errorf("is %s: want text, or an array of texts, as in [\"./sync.sh\", \"--fast\"]", tomlfile.KindOf(value))
	}
	return raw{}, fmt.Errorf("is %s", tomlfile.KindOf(value))
}
