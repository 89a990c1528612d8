//go:build !linux

package hook

import "strconv"

// zoneID returns the number of the interface that follows the % of an address. A name is not looked up.
func zoneID(zone string) uint32 {
	number, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(number)
}
