// Package otel makes OpenTelemetry spans and metrics of what is done in workspaces:
// in go the events of package observe, out come a span and the time of each operation,
// and the bytes of those that read or write a file.
//
//	fsys = observe.New(fsys, "repo", otel.New(nil))
//
// It uses the API of OpenTelemetry alone. Which SDK records what, and where it sends
// it, is the program's decision; without one, nothing is recorded.
//
// A span is called after the operation and the workspace, "write_file repo", and is a
// child of the span in the caller's context. What the store does for it, such as
// requests that are traced, becomes its children. A stream's span lasts until the
// stream is closed, a watch's until its context ends.
//
// The attributes are those of the semantic conventions where there are some:
// session.id, file.path, and error.type with the codes of docs/errors.md. The others
// begin with "workspace.". Names of files are not among them unless [Options].Paths is
// set: traces are often sent to others. Contents and patterns never are.
//
// The metrics are the histogram workspace.operation.duration, in seconds, and the
// counter workspace.operation.io, in bytes. Their attributes are workspace.name,
// workspace.operation, workspace.decision and error.type.
package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/workspacekit/workspacekit/workspace/observe"
)

// scope is the name of the instrumentation.
const scope = "github.com/workspacekit/workspacekit/adapters/otel"

// The attributes that no convention has.
const (
	keyWorkspace   = attribute.Key("workspace.name")
	keyOperation   = attribute.Key("workspace.operation")
	keyDestination = attribute.Key("workspace.destination")
	keyBytes       = attribute.Key("workspace.bytes")
	keyDecision    = attribute.Key("workspace.decision")
	keyRule        = attribute.Key("workspace.rule")
)

// Options are the settings of an [Observer].
type Options struct {
	// TracerProvider makes the spans. Nil means the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the metrics. Nil means the global one.
	MeterProvider metric.MeterProvider
	// Paths puts names of files into the spans, as file.path and
	// workspace.destination. False leaves them out.
	Paths bool
}

// Observer is an [observe.Observer] that makes spans and metrics. It refuses nothing,
// and is safe for concurrent use.
type Observer struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	io       metric.Int64Counter
	paths    bool
}

var _ observe.Observer = (*Observer)(nil)

// New returns an observer. Nil opts mean the zero Options. What the meter has against
// the instruments goes to the error handler of OpenTelemetry.
func New(opts *Options) *Observer {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	meter := o.MeterProvider.Meter(scope)
	duration, err := meter.Float64Histogram("workspace.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("How long operations on workspaces take."),
		metric.WithExplicitBucketBoundaries(.00001, .0001, .001, .005, .01, .05, .1, .5, 1, 5, 10))
	if err != nil {
		otel.Handle(err)
	}
	io, err := meter.Int64Counter("workspace.operation.io", metric.WithUnit("By"),
		metric.WithDescription("How many bytes of contents operations on workspaces read or write."))
	if err != nil {
		otel.Handle(err)
	}
	return &Observer{tracer: o.TracerProvider.Tracer(scope), duration: duration, io: io, paths: o.Paths}
}

// begun is the span of an operation in a context.
type begun struct {
	trace.Span
	op   string
	time time.Time
}

// begunKey is the key of the span of one observer in a context.
type begunKey struct{ *Observer }

// Before implements [observe.Observer]: it begins a span.
func (o *Observer) Before(ctx context.Context, e observe.Event) (context.Context, error) {
	ctx, span := o.start(ctx, e)
	return context.WithValue(ctx, begunKey{o}, begun{span, e.Op, e.Time}), nil
}

// start begins the span of e.
func (o *Observer) start(ctx context.Context, e observe.Event) (context.Context, trace.Span) {
	attributes := []attribute.KeyValue{keyOperation.String(e.Op), keyWorkspace.String(e.Workspace)}
	if e.Session != "" {
		attributes = append(attributes, semconv.SessionID(e.Session))
	}
	if o.paths {
		attributes = append(attributes, semconv.FilePath(e.Path))
		if e.To != "" {
			attributes = append(attributes, keyDestination.String(e.To))
		}
	}
	return o.tracer.Start(ctx, e.Op+" "+e.Workspace, trace.WithTimestamp(e.Time), trace.WithAttributes(attributes...))
}

// After implements [observe.Observer]: it ends the span, and measures.
func (o *Observer) After(ctx context.Context, e observe.Event) {
	o.endSpan(ctx, e)
	attributes := []attribute.KeyValue{
		keyOperation.String(e.Op), keyWorkspace.String(e.Workspace), keyDecision.String(string(e.Decision)),
	}
	if e.Code != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(e.Code))
	}
	set := metric.WithAttributeSet(attribute.NewSet(attributes...))
	o.duration.Record(ctx, e.Duration.Seconds(), set)
	if e.Bytes > 0 {
		o.io.Add(ctx, e.Bytes, set)
	}
}

// endSpan ends the span that Before began. An observer before this one may have
// refused the operation: then Before was not called, and the span in ctx may belong
// to the operation that called this one.
func (o *Observer) endSpan(ctx context.Context, e observe.Event) {
	own, ok := ctx.Value(begunKey{o}).(begun)
	span := own.Span
	if !ok || own.op != e.Op || !own.time.Equal(e.Time) {
		_, span = o.start(ctx, e)
	}
	if span.IsRecording() {
		span.SetAttributes(keyBytes.Int64(e.Bytes), keyDecision.String(string(e.Decision)))
		if e.Rule != "" {
			span.SetAttributes(keyRule.String(e.Rule))
		}
		if e.Code != "" {
			span.SetAttributes(semconv.ErrorTypeKey.String(e.Code))
			span.SetStatus(codes.Error, e.Code) // the text of the error has names of files
		}
	}
	span.End(trace.WithTimestamp(e.Time.Add(e.Duration)))
}
