package policy

import (
	"fmt"
	"strings"
)

// Name returns the name of a constant. A constant without a name is shown as its type and number: "Cause(77)".
func Name[T ~uint8](names []string, of T) string {
	if int(of) < len(names) && names[of] != "" {
		return names[of]
	}
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", of), ".")
	return fmt.Sprintf("%s(%d)", kind, uint8(of))
}
