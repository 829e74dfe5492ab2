package mcp

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/workspacekit/workspacekit/tools"
)

const (
	// DefaultMaxMessage is the longest message, in bytes, that [Serve] takes
	// if its options name none: 64 MiB, which holds a text of 10 MiB however
	// it is escaped.
	DefaultMaxMessage = 64 << 20
	// DefaultGrace is how long [Serve] lets calls end, if its options do not
	// say, once its input has ended.
	DefaultGrace = 30 * time.Second
)

// ServeOptions tune a [Serve], which refuses negative numbers.
type ServeOptions struct {
	// MaxMessage is the longest message that is read, in bytes, with its line
	// end. A longer one is answered with an error. Zero means [DefaultMaxMessage].
	MaxMessage int
	// Grace is how long calls that run when the input ends may continue before
	// they are cancelled. Zero means [DefaultGrace].
	Grace time.Duration
}

// Serve answers one client: its messages come from in, one line of JSON each,
// and the answers go to out, which carries nothing else. Nil opts mean the zero
// ServeOptions.
//
// When in ends, what has been asked is still answered, and Serve returns nil.
// When ctx ends, calls are cancelled and Serve returns the error of ctx. A line
// that is not a message is answered with an error and does no other harm.
//
// Serve reads in until it ends, and may still do so for one message after it
// has returned because of ctx. If nobody reads out, it ends soon after ctx or the time of
// grace, and one write may still wait.
//
// # Errors
//
// The error of ctx, or of reading in or writing to out, and [io/fs.ErrInvalid] for an option
// below zero.
func Serve(ctx context.Context, server *sdk.Server, in io.Reader, out io.Writer, opts *ServeOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	return serve(ctx, server, newConnection(ctx, in, out, opts))
}

// ServeTools is Serve for the server that [NewServer] returns for set and about. It
// is faster for large results, as it encodes them itself: nobody can add middleware
// to this server, which would not see them.
//
// # Errors
//
// Those of [Serve].
func ServeTools(ctx context.Context, set *tools.Set, about *Options, in io.Reader, out io.Writer, opts *ServeOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	connection := newConnection(ctx, in, out, opts)
	connection.aside = newDetour()
	return serve(context.WithValue(ctx, detourKey{}, connection.aside), NewServer(set, about), connection)
}

// serve lets the server answer until the connection has ended. The end of ctx is the
// error then, whatever the session says.
func serve(ctx context.Context, server *sdk.Server, connection *connection) error {
	var running sync.WaitGroup
	ctx = context.WithValue(context.WithValue(ctx, hangUpKey{}, connection.hangUp()), runningKey{}, &running)
	session, err := server.Connect(ctx, connection, nil)
	if err != nil {
		return err
	}
	err = session.Wait()
	running.Wait() // a call whose question was not answered ends with the session
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return err
}

// check returns the error of an option that means nothing.
func (opts *ServeOptions) check() error {
	if opts == nil {
		return nil
	}
	return notNegative(limit{"MaxMessage", int64(opts.MaxMessage)}, limit{"Grace", int64(opts.Grace)})
}

// limit is an option that is a number or a time.
type limit struct {
	option string
	value  int64
}

// notNegative returns the error of the first limit below zero, nil if there is none.
func notNegative(limits ...limit) error {
	for _, l := range limits {
		if l.value < 0 {
			return fmt.Errorf("mcp: %s is negative: leave it out for the default: %w", l.option, fs.ErrInvalid)
		}
	}
	return nil
}

// withDefaults fills in what opts leave open.
func (opts *ServeOptions) withDefaults() ServeOptions {
	var o ServeOptions
	if opts != nil {
		o = *opts
	}
	if o.MaxMessage == 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	return o
}
