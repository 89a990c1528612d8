// Command origin serves one artifact over HTTP to the caches of this example. It is so slow that downloads would
// overlap without a gate, and it counts the downloads that overlap.
//
//	origin serve [--listen address] [--size bytes] [--takes duration]
//	origin fetch [--seq number] [--within duration] url file
//
// serve prints its URL and serves /artifact and /stats until it is stopped. fetch downloads a file on hosts without
// curl.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	err := errors.New("usage: origin serve, or origin fetch url file")
	if len(os.Args) > 1 {
		switch args := os.Args[2:]; os.Args[1] {
		case "serve":
			err = serve(args)
		case "fetch":
			err = fetch(context.Background(), args)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "origin:", err)
		os.Exit(1)
	}
}

func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address to listen on; port 0 chooses a free port")
	size := flags.Int("size", 1<<20, "bytes of the artifact")
	takes := flags.Duration("takes", 300*time.Millisecond, "how long a download takes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{Handler: newOrigin(*size, *takes).handler(), ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}
