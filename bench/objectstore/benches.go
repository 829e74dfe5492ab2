package main

import (
	"context"
	"fmt"
	"time"
)

// bench is a benchmark that can be chosen by its name.
type bench struct {
	name    string
	needs   objects
	latency time.Duration // added to each request
	job     func(c *clients) job
}

func benches() []bench {
	return []bench{
		{name: "read", needs: single(), job: readJob},
		{name: "write", needs: single(), job: writeJob},
		{name: "stat", needs: single(), job: statJob},
		{name: "ls", needs: folder(), job: lsJob},
		{name: "walk", needs: tree(), job: walkJob},
		{name: "grep", needs: tree(), job: func(c *clients) job { return grepJob(c, tree()) }},
		{name: "grep-second", needs: tree(), job: func(c *clients) job { return grepSecondJob(c, tree()) }},
		{name: "grep-again-far", needs: tree(), latency: 5 * time.Millisecond, job: func(c *clients) job { return grepAgainJob(c, tree()) }},
		{name: "grep-far", needs: grove(), latency: 5 * time.Millisecond, job: func(c *clients) job { return grepJob(c, grove()) }},
	}
}

// run measures b with clients of its own, in so many rounds.
func (b bench) run(ctx context.Context, s *store, rounds int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if b.latency > 0 {
		endpoint, err := delayed(ctx, s.endpoint, b.latency)
		if err != nil {
			return err
		}
		s = s.at(endpoint)
	}
	c, err := newClients(ctx, s)
	if err != nil {
		return err
	}
	defer c.gocloud.Close()
	j := b.job(c)
	if b.latency > 0 {
		j.name += fmt.Sprintf(", %v later for each request", b.latency)
	}
	return j.run(ctx, rounds)
}
