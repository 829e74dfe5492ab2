package lint_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/workspacekit/workspacekit/tools"
	"github.com/workspacekit/workspacekit/tools/lint"
)

func ExampleCheck() {
	definitions := json.RawMessage(`[{"name": "read.file", "description": "Reads a file.", "input_schema": {"type": "object"}}]`)
	report, err := lint.Check(tools.FormatAnthropic, definitions)
	if err != nil {
		log.Fatal(err)
	}
	for _, problem := range report.Problems {
		fmt.Printf("%s: %s\n", problem.Tool, problem.Text)
	}
	// Output: read.file: the name does not match ^[a-zA-Z0-9_-]{1,64}$
}
