package report

import (
	"errors"
	"fmt"
)

// Shape is how a program prints its results: as JSON, or in a format for people and spreadsheets.
type Shape struct {
	JSON   bool
	Format Format
}

// Check says what is wrong with the flags --json and --format that make a shape. formatGiven is whether somebody gave
// the latter.
func (s *Shape) Check(formatGiven bool) error {
	if s.JSON && formatGiven {
		return errors.New("--json and --format exclude each other: choose one")
	}
	if _, err := ParseFormat(string(s.Format)); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	return nil
}
