package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds how long a script waits for what another process does.
const patience = 20 * time.Second

func exitCode(exit *exec.ExitError) string { return strconv.Itoa(exit.ExitCode()) }

// await waits until a file has text that matches: await out.txt 'create a'.
func await(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: await file regexp")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		// The other process may not have made the file yet.
		data, _ := os.ReadFile(ts.MkAbs(args[0]))
		if pattern.Match(data) {
			return
		}
	}
	ts.Fatalf("%s never had %q:\n%s", args[0], args[1], ts.ReadFile(args[0]))
}

// object checks that the last output is one JSON object on one line, and
// nothing else.
func object(ts *testscript.TestScript, _ bool, _ []string) {
	out := ts.ReadFile("stdout")
	var value map[string]any
	if err := json.Unmarshal([]byte(out), &value); err != nil {
		ts.Fatalf("stdout is not a JSON object: %v", err)
	}
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		ts.Fatalf("stdout is not one line")
	}
}

// fill makes a file of numbered lines: fill big.txt 5000.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: fill file lines")
	}
	lines, err := strconv.Atoi(args[1])
	ts.Check(err)
	var text strings.Builder
	for n := range lines {
		fmt.Fprintf(&text, "line %d\n", n+1)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o644))
}

// put makes a file of a Go string: put a.txt 'one\r\n'.
func put(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: put file string")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}
