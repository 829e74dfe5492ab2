package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"
)

// bufferSize is more than a request without a body has.
const bufferSize = 64 << 10

// delayed returns an endpoint in front of endpoint that passes on what it is
// sent only after latency. A request that fits into one write, as those of a
// read or a listing do, is late by that; answers are not delayed. It ends with
// ctx. So a search over a local store can be measured as over a network, where
// what counts is how many requests wait for each other.
func delayed(ctx context.Context, endpoint string, latency time.Duration) (string, error) {
	target, err := url.Parse(endpoint)
	if err != nil || target.Scheme != "http" {
		return "", fmt.Errorf("only an endpoint with http can be delayed, not %q", endpoint)
	}
	server := net.JoinHostPort(target.Hostname(), cmp.Or(target.Port(), "80"))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, server, latency)
		}
	}()
	return "http://" + listener.Addr().String(), nil
}

// relay connects client with the server until either hangs up. It holds one
// write at a time, so a second write on the same connection waits for the
// first.
func relay(client net.Conn, server string, latency time.Duration) {
	defer client.Close()
	upstream, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer upstream.Close()
	go func() {
		defer client.Close()
		_, _ = io.Copy(client, upstream)
	}()
	buffer := make([]byte, bufferSize)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		<-time.After(latency)
		if _, err := upstream.Write(buffer[:n]); err != nil {
			return
		}
	}
}
