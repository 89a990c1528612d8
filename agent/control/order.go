package control

import (
	"encoding/json"
	"io"
	"os/user"
	"strconv"
)

// readOrder reads who wants what.
func readOrder(body io.Reader, p peer) (o Order, err error) {
	strict := json.NewDecoder(body)
	strict.DisallowUnknownFields()
	switch err := strict.Decode(&o); {
	case err != nil:
		return o, &badRequestError{"an order is a document of at most 4 KiB: " + err.Error()}
	case o.For < 0:
		return o, &badRequestError{"an order cannot end in the past"}
	}
	o.User = strconv.FormatUint(uint64(p.user), 10)
	if u, err := user.LookupId(o.User); err == nil {
		o.User = u.Username
	}
	return o, nil
}
