package tools

import (
	"fmt"
	"regexp"
	"strings"
)

// DefaultNaming is the template of tool names where Options has none.
const DefaultNaming = "workspace__{name}__{op}"

// toolName fills in a naming template for one operation.
func toolName(naming, workspaceName, op string) (string, error) {
	if err := checkNaming(naming); err != nil {
		return "", err
	}
	if strings.Contains(naming, "{name}") && !acceptedName.MatchString(workspaceName) {
		return "", fmt.Errorf("workspace name %q cannot be part of a tool name: it needs letters, digits, \"_\" and \"-\" only; "+
			"rename the workspace or use a naming without {name}", workspaceName)
	}
	name := strings.NewReplacer("{name}", workspaceName, "{op}", op).Replace(naming)
	if len(name) > MaxNameLength {
		return "", fmt.Errorf("tool name %q has %d characters, and the limit is %d: shorten the workspace name or the naming",
			name, len(name), MaxNameLength)
	}
	return name, nil
}

func checkNaming(naming string) error {
	rest := strings.NewReplacer("{name}", "", "{op}", "").Replace(naming)
	switch {
	case !strings.Contains(naming, "{op}"):
		return fmt.Errorf("naming %q needs {op}, or all tools have one name", naming)
	case rest != "" && !acceptedName.MatchString(rest):
		return fmt.Errorf("naming %q may have letters, digits, \"_\", \"-\", {name} and {op} only", naming)
	}
	return nil
}

// acceptedName matches names whose characters all vendors accept in the name of
// a tool.
var acceptedName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
