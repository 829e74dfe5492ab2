package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

func TestDelayed(t *testing.T) {
	const latency = 100 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	endpoint := delayedOrFatal(t, server.URL, latency)
	start := time.Now()
	body, err := fetch(server.Client(), endpoint+"/path")
	if took := time.Since(start); err != nil || body != "/path" || took < latency {
		t.Errorf("GET through delayed = %q, %v after %v, want %q after at least %v", body, err, took, "/path", latency)
	}
}

// TestDelayedTogether sends as many requests at a time as there are
// connections. The server answers once it has them all.
func TestDelayedTogether(t *testing.T) {
	var all sync.WaitGroup
	all.Add(idleConnections)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait()
		echo(w, r)
	}))
	defer server.Close()
	endpoint := delayedOrFatal(t, server.URL, time.Millisecond)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	var group sync.WaitGroup
	for range idleConnections {
		group.Go(func() {
			if body, err := fetch(client, endpoint+"/path"); err != nil || body != "/path" {
				t.Errorf("GET through delayed = %q, %v, want %q", body, err, "/path")
			}
		})
	}
	group.Wait()
}

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }

func delayedOrFatal(t *testing.T, endpoint string, latency time.Duration) string {
	t.Helper()
	late, err := delayed(t.Context(), endpoint, latency)
	if err != nil {
		t.Fatalf("delayed(%q) = %v, want nil", endpoint, err)
	}
	return late
}

func fetch(client *http.Client, address string) (string, error) {
	answer, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func TestDelayedWithTLS(t *testing.T) {
	if endpoint, err := delayed(t.Context(), "https://s3.example.org", 0); err == nil {
		t.Errorf("delayed of an https endpoint = %q, want an error", endpoint)
	}
}
