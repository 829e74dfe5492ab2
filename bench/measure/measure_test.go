package measure_test

import (
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workspacekit/workspacekit/bench/measure"
)

// takes returns a contender that takes so long in each turn.
func takes(name string, results int, turns ...time.Duration) measure.Contender {
	return measure.Contender{Name: name, Do: func() (int, error) {
		now := turns[0]
		turns = append(turns[1:], now)
		time.Sleep(now)
		return results, nil
	}}
}

func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // with a clock of its own
		var out strings.Builder
		r := measure.Report{Rounds: 3, Out: &out}
		r.Title("waiting")
		// The first turn does not count.
		err := errors.Join(
			r.Run("a <b>", takes("ours", 1, time.Hour, 10*time.Millisecond, 20*time.Millisecond, 15*time.Millisecond),
				takes("theirs", 1, time.Second, 30*time.Millisecond, 30*time.Millisecond, 60*time.Millisecond)),
			r.Run("c", takes("ours", 1, time.Second), takes("theirs", 2, 2*time.Second)))
		if err != nil {
			t.Fatal(err)
		}
		want := "\n## waiting\n\n| | ours | theirs |\n|---|---|---|\n" +
			"| a <b> | 15.0 ms (10.0 ms to 20.0 ms) | **0.5** (0.25 to 0.67) of 30.0 ms |\n" +
			"| c (ours: 1, theirs: 2) | 1.00 s (1.00 s to 1.00 s) | **0.5** (0.5 to 0.5) of 2.00 s |\n"
		if out.String() != want {
			t.Errorf("the report is\n%s\nwant\n%s", out.String(), want)
		}
		var image strings.Builder
		if err := r.Plot(&image); err != nil {
			t.Fatal(err)
		}
		for decoder := xml.NewDecoder(strings.NewReader(image.String())); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the plot is no XML: %v\n%s", err, image.String())
			}
		}
		if got := strings.Count(image.String(), "<circle"); got != 3 { // two jobs, and the legend
			t.Errorf("the plot has %d dots, want 3:\n%s", got, image.String())
		}
	})
}

func TestReportError(t *testing.T) {
	r := measure.Report{Rounds: 1, Out: io.Discard}
	broken := errors.New("broken")
	err := r.Run("job", takes("ours", 1, 0), measure.Contender{Name: "theirs", Do: func() (int, error) { return 0, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "job: theirs") {
		t.Errorf("Run with a broken contender = %v, want its error", err)
	}
}

func TestReportCPU(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no processor time")
	}
	var out strings.Builder
	r := measure.Report{Rounds: 1, Out: &out, CPU: true}
	busy := func(turns int) measure.Contender {
		return measure.Contender{Name: "busy", Do: func() (int, error) {
			sum := sha256.Sum256(nil)
			for range turns {
				sum = sha256.Sum256(sum[:])
			}
			return measure.Uncounted, nil
		}}
	}
	if err := r.Run("job", busy(100), busy(1_000_000)); err != nil {
		t.Fatal(err)
	}
	_, ratio, _ := strings.Cut(out.String(), "; CPU ")
	if number, _, _ := strings.Cut(ratio, " |"); !strings.HasPrefix(number, "0.0") && !strings.Contains(number, "e-") && number != "0" {
		t.Errorf("the ratio of processor time is %q, want one near 0:\n%s", number, out.String())
	}
}
