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

// Check returns an error if the flags --json and --format do not make a shape. formatGiven is true if the user gave the
// latter.
func (s *Shape) Check(formatGiven bool) error {
	if s.JSON && formatGiven {
		return errors.New("--json and --format exclude each other: choose one")
	}
	if _, err := ParseFormat(string(s.Format)); err != nil {
		return fmt.Errorf("--format: %w", err)
	}
	return nil
}
