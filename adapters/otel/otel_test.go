package otel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/adapters/otel"
	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/workspace"
	"github.com/workspacekit/workspacekit/workspace/observe"
)

// recorded is an observer with what it records.
type recorded struct {
	*otel.Observer
	tracing *trace.TracerProvider
	spans   *tracetest.SpanRecorder
	reader  *metric.ManualReader
}

func newRecorded(paths bool) recorded {
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	tracing := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	return recorded{otel.New(&otel.Options{
		TracerProvider: tracing, MeterProvider: metric.NewMeterProvider(metric.WithReader(reader)), Paths: paths,
	}), tracing, spans, reader}
}

// ended returns the spans that have ended, as text: name, parent, status and
// attributes.
func (r recorded) ended() []string {
	names := map[string]string{}
	for _, span := range r.spans.Ended() {
		names[span.SpanContext().SpanID().String()] = span.Name()
	}
	var spans []string
	for _, span := range r.spans.Ended() {
		text := fmt.Sprintf("%s < %s", span.Name(), names[span.Parent().SpanID().String()])
		if span.Status().Code == codes.Error {
			text += " !" + span.Status().Description
		}
		for _, a := range span.Attributes() {
			text += " " + attributeText(a)
		}
		spans = append(spans, text)
	}
	return spans
}

func attributeText(a attribute.KeyValue) string { return string(a.Key) + "=" + a.Value.String() }

// run reads, opens and moves files, within a span of the caller.
func run(t *testing.T, r recorded, observers ...observe.Observer) {
	t.Helper()
	store := memory.New(nil)
	if _, err := store.WriteFile(t.Context(), "salaries", []byte("secret"), nil); err != nil {
		t.Fatal(err)
	}
	fsys := observe.New(store, "repo", append(observers, r.Observer)...)
	ctx, span := r.tracing.Tracer("caller").Start(t.Context(), "caller")
	_, _ = fsys.ReadFile(ctx, "salaries")
	_, _ = fsys.ReadFile(ctx, "none")
	stream, _, err := workspace.Open(ctx, fsys, "salaries", nil)
	if err == nil {
		_, _ = io.ReadAll(stream)
		stream.Close()
	}
	_ = workspace.Move(ctx, fsys, "salaries", "to/other")
	span.End()
}

// TestSpans compares the spans of some operations, without names and with them.
func TestSpans(t *testing.T) {
	without := newRecorded(false)
	run(t, without)
	const common = "workspace.operation=%s workspace.name=repo%s workspace.bytes=%d workspace.decision=allowed"
	want := []string{
		"read_file repo < caller " + fmt.Sprintf(common, "read_file", "", 6),
		"read_file repo < caller !FILE_NOT_FOUND " + fmt.Sprintf(common, "read_file", "", 0) + " error.type=FILE_NOT_FOUND",
		"open repo < caller " + fmt.Sprintf(common, "open", "", 6),
		"move repo < caller " + fmt.Sprintf(common, "move", "", 0),
		"caller < ",
	}
	if diff := cmp.Diff(want, without.ended()); diff != "" {
		t.Errorf("the spans without names (-want +got):\n%s", diff)
	}
	with := newRecorded(true)
	run(t, with)
	want[3] = "move repo < caller " + fmt.Sprintf(common, "move", " file.path=salaries workspace.destination=to/other", 0)
	if got := with.ended(); len(got) != 5 || got[3] != want[3] {
		t.Errorf("the spans with names are %q, want %q in them", got, want[3])
	}
	for _, span := range without.ended() {
		if strings.Contains(span, "salaries") || strings.Contains(span, "secret") {
			t.Errorf("the span %q has a name or contents", span)
		}
	}
}

// refusing is an observer that refuses everything.
type refusing struct{ observe.Func }

func (refusing) Before(ctx context.Context, _ observe.Event) (context.Context, error) {
	return ctx, errors.New("no")
}

// TestRefused tests that a refusal has a span of its own, and ends no other one, also
// if the same observer watches twice.
func TestRefused(t *testing.T) {
	r := newRecorded(false)
	nothing := observe.Func(func(context.Context, observe.Event) {})
	inner := observe.New(memory.New(nil), "inner", refusing{nothing}, r.Observer)
	_, err := observe.New(inner, "outer", r.Observer).ReadFile(t.Context(), "a")
	if !errors.Is(err, workspace.ErrPolicy) {
		t.Errorf("ReadFile = %v", err)
	}
	const denied = "workspace.bytes=0 workspace.decision=denied error.type=POLICY_DENIED"
	want := []string{
		"read_file inner < read_file outer !POLICY_DENIED workspace.operation=read_file workspace.name=inner " + denied,
		"read_file outer <  !POLICY_DENIED workspace.operation=read_file workspace.name=outer " + denied,
	}
	if diff := cmp.Diff(want, r.ended()); diff != "" {
		t.Errorf("the spans of a refusal (-want +got):\n%s", diff)
	}
}

// TestMetrics compares what is counted.
func TestMetrics(t *testing.T) {
	r := newRecorded(true)
	run(t, r)
	var data metricdata.ResourceMetrics
	if err := r.reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, m := range data.ScopeMetrics[0].Metrics {
		switch points := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range points.DataPoints {
				got[m.Name+setText(p.Attributes)] = p.Value
			}
		case metricdata.Histogram[float64]:
			for _, p := range points.DataPoints {
				got[m.Name+setText(p.Attributes)] = int64(p.Count)
			}
		}
	}
	const rest = " workspace.decision=allowed workspace.name=repo workspace.operation="
	want := map[string]int64{
		"workspace.operation.duration" + rest + "read_file":                           1,
		"workspace.operation.duration error.type=FILE_NOT_FOUND" + rest + "read_file": 1,
		"workspace.operation.duration" + rest + "open":                                1,
		"workspace.operation.duration" + rest + "move":                                1,
		"workspace.operation.io" + rest + "read_file":                                 6,
		"workspace.operation.io" + rest + "open":                                      6,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the metrics (-want +got):\n%s", diff)
	}
}

func setText(set attribute.Set) string {
	text := ""
	for _, a := range set.ToSlice() {
		text += " " + attributeText(a)
	}
	return text
}

// Example traces the operations of a workspace. A program would give its tracer
// provider to the whole process; without one, nothing is recorded.
func Example() {
	spans := tracetest.NewSpanRecorder()
	observer := otel.New(&otel.Options{TracerProvider: trace.NewTracerProvider(trace.WithSpanProcessor(spans))})
	ws := workspace.New("repo", observe.New(memory.New(nil), "repo", observer), nil)
	_, _ = ws.WriteFile(context.Background(), "a", nil, nil)
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output: write_file repo
}
