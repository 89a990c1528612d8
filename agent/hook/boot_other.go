//go:build unix && !linux

package hook

import "time"

func sinceBoot() time.Duration { return 0 }

// bootAlarm never rings.
type bootAlarm struct{ rings <-chan struct{} }

func (b *bootAlarm) set(time.Duration) bool { return false }

func (b *bootAlarm) remove() {}
