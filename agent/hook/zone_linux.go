package hook

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// zoneID returns the number of the interface that follows the % of an address, which may be given by name or by number.
func zoneID(zone string) uint32 {
	if number, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(number)
	}
	request, err := unix.NewIfreq(zone)
	if zone == "" || err != nil {
		return 0
	}
	socket, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(socket) }()
	if unix.IoctlIfreq(socket, unix.SIOCGIFINDEX, request) != nil {
		return 0
	}
	return request.Uint32()
}
