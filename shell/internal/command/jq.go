package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/gojq"
	"github.com/workspacekit/workspacekit/internal/ctxregexp"
)

// jq filters JSON, with the language as gojq has it. Objects are printed with their
// keys sorted. It differs from jq 1.7 in what gojq does: integers of any size are
// exact, there are no colors, and no modules. Time zones are UTC. The status is 2 for a
// wrong use, 3 for a filter that cannot be read, and 5 after an error of the filter;
// with -e also 1 and 4.
//
// The pieces: takeArguments reads the options with two values, compile makes code of the
// filter and the prelude, and run calls it with each value of jqInput. What a filter may
// hold is bounded in three ways, as no single one sees all of it:
//
//	boundedReader   a value of the input, while it is decoded
//	fits, within    a value that one step would make: "x" * 1e10, .[1e10] = 1
//	boundHeap       all the rest, such as [range(1e9)]
func jq(ctx context.Context, p *Process) int {
	j := &jqRun{p: p, indent: "  ", expressions: map[string]*ctxregexp.Regexp{}}
	named, rest, err := j.takeArguments(ctx, p.Args[1:])
	if err != nil {
		p.errorf("%v", err)
		return exitUsage
	}
	q := *p
	q.Args = append([]string{p.Args[0]}, rest...)
	f := newFlags(&q, "[OPTIONS] FILTER [FILES...]")
	f.failure = exitUsage
	compact := f.BoolP("compact-output", "c", false, "one line for each value")
	f.BoolVarP(&j.raw, "raw-output", "r", false, "print strings without quotes")
	f.BoolVarP(&j.join, "join-output", "j", false, "like -r, without newlines")
	f.BoolVarP(&j.ascii, "ascii-output", "a", false, "escape characters that are not ASCII")
	f.BoolP("sort-keys", "S", false, "sort the keys of objects (always done)")
	f.BoolP("color-output", "C", false, "accepted: the output has no colors")
	f.BoolP("monochrome-output", "M", false, "no colors")
	tab := f.Bool("tab", false, "indent with tabs")
	indent := f.countP("indent", "", 2, "indent with N spaces, at most 7")
	f.Bool("unbuffered", false, "accepted, and without effect")
	f.BoolVar(&j.seq, "seq", false, "print a record separator before each value")
	f.BoolVarP(&j.null, "null-input", "n", false, "run the filter once, with null")
	f.BoolVarP(&j.rawInput, "raw-input", "R", false, "read lines of text, not JSON")
	f.BoolVarP(&j.slurp, "slurp", "s", false, "read all values into one array")
	f.BoolVar(&j.stream, "stream", false, "turn the input into paths and leaves")
	exit := f.BoolP("exit-status", "e", false, "the status is 1 if the last value is false or null, 4 if there is none")
	from := f.StringP("from-file", "f", "", "read the filter from FILE")
	operands, status, ok := f.parse()
	if !ok {
		return status
	}
	filter := "."
	switch {
	case *from != "":
		data, err := p.readAll(ctx, *from)
		if err != nil {
			return p.fail(*from, err) + 1
		}
		filter = string(data)
	case len(operands) > 0:
		filter, operands = operands[0], operands[1:]
	}
	if strings.TrimSpace(filter) == "" {
		filter = "."
	}
	switch {
	case *indent > 7:
		return f.wrong("Cannot indent more than 7 characters")
	case *tab:
		j.indent = "\t"
	default:
		j.indent = strings.Repeat(" ", *indent)
	}
	j.compact = *compact || j.indent == ""
	j.input = &jqInput{ctx: ctx, run: j, names: operands}
	defer j.input.close()
	code, err := j.compile(filter, named)
	if err != nil {
		p.errorf("error: %v", err)
		return 3
	}
	ctx, stop := boundHeap(ctx, p.MaxMemory)
	defer stop()
	j.out = bufio.NewWriter(p.Stdout)
	status = j.run(ctx, code)
	if *exit && status == 0 {
		switch j.last {
		case nil, false:
			status = 1
		case jqNothing:
			status = 4
		}
	}
	return p.finish(j.out, status)
}

// jqNothing stands for the last value if there was none.
//
// It has a type of its own, as nil is the value null of JSON, for which -e has another
// status.
const jqNothing = jqMark(1)

type jqMark int

// jqRun is one run of jq.
type jqRun struct {
	ctx                           context.Context // of run
	p                             *Process
	out                           *bufio.Writer
	compact, raw, join, ascii     bool   // -c, -r, -j and -a
	seq                           bool   // --seq: a record separator (RFC 7464) comes before each value
	indent                        string // of one level
	null, rawInput, slurp, stream bool   // -n, -R, -s and --stream
	input                         *jqInput
	last                          any                          // the last value, for -e
	status                        int                          // of an input that cannot be read
	written                       int                          // values, with those in others
	expressions                   map[string]*ctxregexp.Regexp // that have been rehearsed
}

// takeArguments takes the options that have two values, and positional arguments, out of
// args. It returns the variables that they define.
//
// rest has all other words, in their order, for the parser of the options. Positional
// arguments are those after --args or --jsonargs, but for the filter:
//
//	jq --arg x 1 -c '$x' f --args a b
//	named   x is "1", ARGS is {"named": {"x": "1"}, "positional": ["a", "b"]}
//	rest    -c '$x' f
//
// Files of options are read here, before the filter is known to be right.
func (j *jqRun) takeArguments(ctx context.Context, args []string) (named map[string]any, rest []string, err error) {
	named = map[string]any{}
	positional := []any{}
	mode, operands, ended := "", 0, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case ended:
		case slices.Contains([]string{"--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile"}, arg):
			if i+2 >= len(args) {
				return nil, nil, fmt.Errorf("%s takes two parameters (e.g. %s name value)", arg, arg)
			}
			if named[args[i+1]], err = j.argument(ctx, arg, args[i+2]); err != nil {
				return nil, nil, err
			}
			i += 2
			continue
		case arg == "--args" || arg == "--jsonargs":
			mode = arg
			continue
		case arg == "-f" || arg == "--from-file" || arg == "--indent":
			if arg != "--indent" {
				operands++ // it stands for the filter
			}
			rest = append(rest, args[i:min(i+2, len(args))]...)
			i++
			continue
		case strings.HasPrefix(arg, "-") && len(arg) > 1:
			if strings.HasPrefix(arg, "--from-file=") {
				operands++
			}
			ended = arg == "--"
			rest = append(rest, arg)
			continue
		}
		if operands++; operands == 1 || mode == "" {
			rest = append(rest, arg)
			continue
		}
		var value any = arg
		if mode == "--jsonargs" {
			if value, err = j.argument(ctx, "--argjson", arg); err != nil {
				return nil, nil, err
			}
		}
		positional = append(positional, value)
	}
	named["ARGS"] = map[string]any{"named": maps.Clone(named), "positional": positional}
	return named, rest, nil
}

// argument is the value of an option that defines a variable.
//
// Numbers are read as json.Number, so that gojq has all their digits: a float64 would round
// large integers.
//
//	--arg x 1        "1"
//	--argjson x 1    1; exactly one value
//	--rawfile x f    the bytes of f, as a string
//	--slurpfile x f  the values of f, as an array
//	--argfile x f    the value of f; an array if f has not exactly one
func (j *jqRun) argument(ctx context.Context, option, text string) (any, error) {
	if option == "--arg" {
		return text, nil
	}
	source := text
	if option != "--argjson" {
		data, err := j.p.readAll(ctx, text)
		if err != nil {
			return nil, fmt.Errorf("bad JSON in %s: Could not open %s: %s", option, text, ErrorText(err))
		}
		if source = string(data); option == "--rawfile" {
			return source, nil
		}
	}
	values := []any{}
	decoder := json.NewDecoder(strings.NewReader(source))
	decoder.UseNumber()
	for {
		var v any
		err := decoder.Decode(&v)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("invalid JSON text passed to %s: %v", option, err)
		}
		values = append(values, v)
	}
	switch {
	case option == "--slurpfile":
		return values, nil
	case len(values) == 1:
		return values[0], nil
	case option == "--argfile":
		return values, nil
	}
	return nil, fmt.Errorf("invalid JSON text passed to %s", option)
}

// run runs the filter with each input.
//
// An error of the filter ends the work on one input, and the next input is read, as in jq:
// the last one decides about the status. halt, the end of ctx and a failed write end the run. An
// input that is no JSON ends it with the status 2, as the decoder cannot find the next
// value. The filter itself can read inputs, too, from the same place:
//
//	1 2 3 4    jq -c '[., input]'    [1,2] and [3,4]
func (j *jqRun) run(ctx context.Context, code *gojq.Code) (status int) {
	j.ctx, j.last = ctx, jqNothing
	// one reports whether the next input may be read.
	one := func(v any) bool {
		status = 0 // only the last input counts
		results := code.RunWithContext(ctx, v, j.input.values...)
		for {
			result, ok := results.Next()
			if !ok {
				return true
			}
			if err, ok := result.(error); ok {
				var done bool
				if status, done = j.report(ctx, err); done {
					return false
				}
				return true
			}
			if _, err := j.measure(result); errors.Is(err, errJQDeep) {
				status, _ = j.report(ctx, err)
				return true
			}
			j.last = result
			if err := j.print(result); err != nil {
				if status = 5; ctx.Err() == nil {
					status = j.p.failWrite(err)
				}
				return false
			}
		}
	}
	if j.null {
		one(nil)
		return cmp.Or(j.status, status)
	}
	for {
		v, ok := j.input.Next()
		if !ok {
			break
		}
		if err, ok := v.(error); ok {
			j.out.Flush()
			j.p.errorf("error (at %s): %v", j.input.shown(), err)
			return exitUsage
		}
		if !one(v) {
			return status
		}
	}
	return cmp.Or(j.status, status)
}

// report prints an error of the filter. done is whether nothing more may run.
//
// What was printed before comes before the message. halt_error prints a string as it is,
// without a newline, and any other value as JSON.
func (j *jqRun) report(ctx context.Context, err error) (status int, done bool) {
	j.out.Flush()
	if cause := context.Cause(ctx); cause != nil {
		if _, tooMuch := cause.(heapError); tooMuch { // the shell prints why it has ended the script itself
			j.p.errorf("error: %v", cause)
		}
		return 5, true
	}
	if value, ok := errors.AsType[gojq.ValueError](err); ok {
		if _, tooMuch := j.measure(value.Value()); tooMuch != nil {
			err = tooMuch
		}
	}
	if halt, ok := errors.AsType[*gojq.HaltError](err); ok {
		if text, ok := halt.Value().(string); ok {
			io.WriteString(j.p.Stderr, text)
		} else if halt.Value() != nil {
			text, _ := gojq.Marshal(halt.Value())
			fmt.Fprintf(j.p.Stderr, "%s\n", text)
		}
		return halt.ExitCode(), true
	}
	j.p.errorf("error (at %s): %v", j.input.shown(), err)
	return 5, false
}

// print prints a value.
//
// It returns the error of a failed write, so that a filter without an end stops where
// nobody reads. With -j the error is only found by finish, as a bufio.Writer keeps its
// first one.
func (j *jqRun) print(v any) error {
	if j.seq {
		j.out.WriteByte(0x1e)
	}
	if s, ok := v.(string); ok && (j.raw || j.join) {
		j.out.WriteString(s)
	} else if err := j.write(v, 0); err != nil {
		return err
	}
	if j.join {
		return nil
	}
	return j.out.WriteByte('\n')
}

// write writes JSON, indented unless the output is compact.
//
// depth is how many levels are around v. Empty arrays and objects stay on one line. The error is
// the end of the run; those of writing are kept by out.
func (j *jqRun) write(v any, depth int) error {
	if j.written++; j.written&0xfff == 0 && j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	newline := func(depth int) {
		if !j.compact {
			j.out.WriteByte('\n')
			for range depth {
				j.out.WriteString(j.indent)
			}
		}
	}
	switch v := v.(type) {
	case []any:
		j.out.WriteByte('[')
		for i, element := range v {
			if i > 0 {
				j.out.WriteByte(',')
			}
			newline(depth + 1)
			if err := j.write(element, depth+1); err != nil {
				return err
			}
		}
		if len(v) > 0 {
			newline(depth)
		}
		j.out.WriteByte(']')
	case map[string]any:
		j.out.WriteByte('{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				j.out.WriteByte(',')
			}
			newline(depth + 1)
			j.scalar(key)
			j.out.WriteByte(':')
			if !j.compact {
				j.out.WriteByte(' ')
			}
			if err := j.write(v[key], depth+1); err != nil {
				return err
			}
		}
		if len(v) > 0 {
			newline(depth)
		}
		j.out.WriteByte('}')
	default:
		j.scalar(v)
	}
	return nil
}

// scalar writes a value that has no parts. With -a, a character beyond 16 bits becomes
// two escapes, as in UTF-16.
//
// U+1F600 is \ud83d\ude00.
func (j *jqRun) scalar(v any) {
	text, err := gojq.Marshal(v)
	if err != nil {
		text = []byte("null")
	}
	if !j.ascii {
		j.out.Write(text)
		return
	}
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			j.out.WriteByte(byte(r))
		case r < 0x10000:
			fmt.Fprintf(j.out, "\\u%04x", r)
		default:
			r -= 0x10000
			fmt.Fprintf(j.out, "\\u%04x\\u%04x", 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
}

// jqInput reads the values of all files in turn. It is a [gojq.Iter], for input and
// inputs.
//
// Next is what run and the filter call; next returns the plain values below it:
//
//	open      next file: decoder, or lines with -R
//	next      one value, or one line
//	Next      the value, an event of --stream, or with -s all of them once
//
// An error is returned as a value, as a [gojq.Iter] does. After one, nothing more is read.
// It is for one goroutine.
type jqInput struct {
	ctx     context.Context
	run     *jqRun
	names   []string // the files that are left to read
	values  []any    // of the variables
	name    string   // of the file that is read, for messages
	started bool     // the first input has been opened
	slurped bool     // the one value of -s has been read
	file    io.ReadCloser
	decoder *json.Decoder
	bound   *boundedReader // counts the bytes of a value, which the decoder holds
	lines   *lineReader
	queue   []any // of --stream
	failed  bool  // nothing more is read
}

// boundedReader refuses more than limit bytes since left was set.
//
// jqInput sets left again before each value. The decoder and its buffer read ahead, so that
// bytes of the next value may count for this one: the bound is near limit, and never far
// above it.
type boundedReader struct {
	io.Reader
	left, limit int64
}

// Read implements [io.Reader].
func (r *boundedReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooMuch(r.limit)
	}
	n, err := r.Reader.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	return n, err
}

// Next implements [gojq.Iter].
func (in *jqInput) Next() (any, bool) {
	if in.failed {
		return nil, false
	}
	if in.run.slurp {
		return in.slurpAll()
	}
	return in.event()
}

// shown is the name of the file that is being read, for messages.
func (in *jqInput) shown() string {
	if in.name == "" || in.name == "-" {
		return "<stdin>"
	}
	return in.name
}

// event returns a value, or with --stream a path and a leaf of one. The lines of -R are no values.
//
// The events of one value are held in memory.
func (in *jqInput) event() (any, bool) {
	if in.run.stream && !in.run.rawInput && len(in.queue) == 0 {
		v, ok := in.next()
		if _, failed := v.(error); !ok || failed {
			return v, ok
		}
		query, _ := gojq.Parse("tostream")
		for events := query.RunWithContext(in.ctx, v); ; {
			event, ok := events.Next()
			if !ok {
				break
			}
			in.queue = append(in.queue, event)
		}
	}
	if len(in.queue) > 0 {
		v := in.queue[0]
		in.queue = in.queue[1:]
		return v, true
	}
	return in.next()
}

// slurpAll returns all values as one array, or with -R all text. What it holds is
// bounded, value by value.
//
// The second call says that there are no more. -R keeps the line ends, and a last line
// without one stays without.
func (in *jqInput) slurpAll() (any, bool) {
	if in.slurped {
		return nil, false
	}
	in.slurped = true
	values := []any{}
	var text strings.Builder
	size := int64(0)
	for {
		v, ok := in.event()
		if !ok {
			break
		}
		if err, ok := v.(error); ok {
			return err, true
		}
		if line, ok := v.(string); ok && in.run.rawInput {
			size += int64(len(line)) + 1
			text.WriteString(line)
			if in.lines.terminated {
				text.WriteByte('\n')
			}
		} else {
			values = append(values, v)
			size += in.bound.limit - in.bound.left
			in.bound.left = in.bound.limit // the next event may be of the same value
		}
		if size > in.run.p.MaxMemory {
			in.failed = true
			return errTooMuch(in.run.p.MaxMemory), true
		}
	}
	if in.run.rawInput {
		return text.String(), true
	}
	return values, true
}

// next reads one value, from the next file if one has ended.
func (in *jqInput) next() (any, bool) {
	for {
		if err := in.ctx.Err(); err != nil {
			in.failed = true
			return err, true
		}
		if in.file == nil && !in.open() {
			return nil, false
		}
		if in.run.rawInput {
			if in.lines.next() {
				return string(in.lines.line), true
			}
			if in.lines.err != nil {
				in.failed = true
				return in.lines.err, true
			}
			in.close()
			continue
		}
		in.bound.left = in.bound.limit
		var v any
		err := in.decoder.Decode(&v)
		if err == nil {
			return v, true
		}
		if err != io.EOF {
			in.failed = true
			return err, true
		}
		in.close()
	}
}

// open opens the next file, or the standard input if there is none at all.
//
// A file that cannot be opened is reported and left out. It makes the status of the run 2
// at the end, and the others are read. A byte order mark of UTF-8 is skipped: encoding/json
// refuses one, and editors of Windows write it.
func (in *jqInput) open() bool {
	for {
		if !in.started && len(in.names) == 0 {
			in.names = []string{"-"}
		}
		in.started = true
		if len(in.names) == 0 {
			return false
		}
		in.name, in.names = in.names[0], in.names[1:]
		name := in.name
		if name == "-" {
			name = "/dev/stdin"
		}
		file, err := in.run.p.Open(in.ctx, name)
		if err != nil {
			in.run.p.errorf("error: Could not open %s: %s", in.name, ErrorText(err))
			in.run.status = exitUsage
			continue
		}
		in.file = file
		in.bound = &boundedReader{Reader: contextReader{in.ctx, file}, limit: in.run.p.MaxMemory, left: in.run.p.MaxMemory}
		if in.run.rawInput {
			in.lines = newLineReader(in.ctx, in.run.p, contextReader{in.ctx, file}, '\n')
			return true
		}
		r := bufio.NewReader(in.bound)
		if mark, _ := r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
			r.Discard(3)
		}
		in.decoder = json.NewDecoder(r)
		in.decoder.UseNumber()
		return true
	}
}

// close closes the file that is being read, if there is one.
//
// jq defers it, since a filter such as halt leaves the file open.
func (in *jqInput) close() {
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
}

// heapError is why boundHeap has ended a context: more bytes than this.
type heapError int64

func (e heapError) Error() string {
	return "the program needs too much memory; at most " + strconv.FormatInt(int64(e)>>20, 10) + " MiB"
}

// boundHeap ends the context when the memory of the process has grown far beyond limit,
// since nothing else shows how much a filter holds. It looks each 5 ms, and allows 256
// MiB more than four times the limit, as other work of the process counts, too. Call
// stop.
//
// stop ends the goroutine and waits for it. The cause of the context is a heapError only if
// the bound ended it. The sample is the heap of the whole process, so the bound is wide,
// and a filter can pass it for some milliseconds: it protects the process from a filter
// that would take all memory, and does not share memory fairly. awk uses it, too.
func boundHeap(ctx context.Context, limit int64) (bounded context.Context, stop func()) {
	const slack, interval = 256 << 20, 5 * time.Millisecond
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	held := func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	bounded, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	most := held() + slack + 4*limit
	go func() {
		defer close(done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-bounded.Done():
				return
			case <-ticker.C:
			}
			if held() < most {
				continue
			}
			// What is garbage counts, too.
			if runtime.GC(); held() >= most {
				cancel(heapError(slack + 4*limit))
				return
			}
		}
	}()
	return bounded, func() {
		cancel(nil)
		<-done
	}
}
