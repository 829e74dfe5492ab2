package term

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
)

// Keyboard is a terminal that is read in turn by a prompt, with the terminal raw, and by
// questions, with the terminal as it was.
//
// A read of a terminal cannot be stopped. So what a read returns for which nobody waits anymore
// is for the next reader.
type Keyboard struct {
	ctx  context.Context // ends the reads of the prompt and of Input
	file io.Reader

	question sync.Mutex         // held during a question
	yield    context.CancelFunc // guarded by question; makes Input wait no longer, nil before its first read

	mu          sync.Mutex
	interrupted bool           // guarded by mu; what Read has returned last is dropLine
	typed       []byte         // guarded by mu; has been read, and not returned
	reading     chan typedPart // guarded by mu; gets what is being read, nil if nothing is
}

// typedPart is what one read returns.
type typedPart struct {
	data []byte
	err  error
}

// NewKeyboard returns a Keyboard for the terminal file. ctx ends each Read.
func NewKeyboard(ctx context.Context, file io.Reader) *Keyboard {
	return &Keyboard{ctx: ctx, file: file}
}

// interrupt is what Ctrl-C types into a raw terminal.
const interrupt = 0x03

// dropLine is what the prompt gets for Ctrl-C, which it would read as the end of the input: a
// "~", which ends an unfinished escape sequence, the keys that erase the line, and Enter.
const dropLine = "~\x05\x15\r"

// Read implements [io.Reader], for a terminal that is raw.
func (k *Keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.wait(k.ctx); err != nil {
		return 0, err
	}
	end := bytes.IndexByte(k.typed, interrupt)
	k.interrupted = end == 0
	if k.interrupted {
		k.typed = k.typed[1:]
		return copy(p, dropLine), nil
	}
	if end < 0 {
		end = len(k.typed)
	}
	n := copy(p, k.typed[:end])
	k.typed = k.typed[n:]
	return n, nil
}

// Interrupted reports whether Ctrl-C was the last key that Read has returned.
func (k *Keyboard) Interrupted() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.interrupted
}

// Interruptible returns a context that ends with ctx, and when Ctrl-C is typed, for what happens
// between two Reads. All that is typed meanwhile, Ctrl-C included, is for the next Read. Nothing
// else may read the keyboard until stop is called.
func (k *Keyboard) Interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.mu.Lock()
		defer k.mu.Unlock()
		for bytes.IndexByte(k.typed, interrupt) < 0 {
			if k.more(ctx) != nil {
				return
			}
		}
		cancel()
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// Input returns what is typed into a terminal that is not raw, for one reader. What is typed
// during a question is for Line.
func (k *Keyboard) Input() io.Reader { return input{k} }

type input struct{ *Keyboard }

// Read implements [io.Reader].
func (k input) Read(p []byte) (int, error) {
	for {
		k.question.Lock()
		ctx, cancel := context.WithCancel(k.ctx)
		k.yield = cancel
		k.question.Unlock()
		k.mu.Lock()
		n, err := 0, k.wait(ctx)
		asked := ctx.Err() != nil && k.ctx.Err() == nil // what is typed is for Line then
		if !asked {
			n = copy(p, k.typed)
			k.typed = k.typed[n:]
		}
		k.mu.Unlock()
		cancel()
		if !asked {
			return n, err
		}
	}
}

// Question begins a question, before it is shown, and returns what ends it.
func (k *Keyboard) Question() (end func()) {
	k.question.Lock()
	if k.yield != nil {
		k.yield()
	}
	return k.question.Unlock
}

// Line returns the next line, for a terminal that is not raw.
func (k *Keyboard) Line(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var line strings.Builder
	for {
		if err := k.wait(ctx); err != nil {
			return line.String(), err
		}
		text, rest, ended := bytes.Cut(k.typed, []byte{'\n'})
		line.Write(text)
		k.typed = rest
		if ended {
			return line.String(), nil
		}
	}
}

// wait waits until typed is not empty.
func (k *Keyboard) wait(ctx context.Context) error {
	if len(k.typed) > 0 {
		return nil
	}
	return k.more(ctx)
}

// more waits until typed has more than now. An error is for the next call, too.
func (k *Keyboard) more(ctx context.Context) error {
	if k.reading == nil {
		reading := make(chan typedPart, 1)
		k.reading = reading
		go func() {
			data := make([]byte, 256)
			n, err := k.file.Read(data)
			reading <- typedPart{data[:n], err}
		}()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case part := <-k.reading:
		k.typed = append(k.typed, part.data...)
		if part.err != nil {
			k.reading <- typedPart{err: part.err}
			return part.err
		}
		k.reading = nil
		return nil
	}
}
