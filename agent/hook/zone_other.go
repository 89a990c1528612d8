//go:build !linux

package hook

import "strconv"

// zoneID is the number of the interface that stands behind the % of an address. Its name is not looked up.
func zoneID(zone string) uint32 {
	number, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(number)
}
