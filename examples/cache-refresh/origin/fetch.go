package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// fetch downloads a URL into a file, for hosts without curl.
func fetch(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("fetch", flag.ContinueOnError)
	seq := flags.String("seq", "0", "the fencing number to send")
	within := flags.Duration("within", time.Minute, "the longest duration of the download")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("usage: origin fetch url file")
	}
	ctx, cancel := context.WithTimeout(ctx, *within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, flags.Arg(0), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set(seqHeader, *seq)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 1024))
		return fmt.Errorf("%s: %s: %s", flags.Arg(0), response.Status, reason)
	}
	file, err := os.Create(flags.Arg(1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, response.Body)
	return err
}
