package shell_test

import (
	"testing"

	"github.com/workspacekit/workspacekit/providers/memory"
	"github.com/workspacekit/workspacekit/shell"
	"github.com/workspacekit/workspacekit/workspace"
)

func TestPrograms(t *testing.T) {
	t.Parallel()
	const script = `printf 'b\na\nb\n' > f
sort f | uniq -c | sort -rn | head -n 1
seq 3 | paste -sd+
echo '{"a": [1, 2]}' | jq -c .a
printf '%s\n' x y | xargs -I{} echo '<{}>' | tee g | wc -l
which sort bash sh
cut -c 2 g | tr -d '\n' | base64 | base64 -d; echo
set -o pipefail
yes | head -n 1
echo $?
sort -o f f && cat f | tac | nl -s ' ' -w 1
`
	const want = "      2 b\n1+2+3\n[1,2]\n2\n/usr/bin/sort\n/usr/bin/bash\n/usr/bin/sh\nxy\ny\n141\n1 b\n2 b\n3 a\n"
	s := shell.New([]*workspace.Workspace{workspace.New("repo", memory.New(nil), nil)}, nil)
	result, err := s.Run(t.Context(), script, nil)
	if err != nil || result.Output != want || result.ExitCode != 0 {
		t.Errorf("Run = %+v, %v, want the output %q", result, err, want)
	}
}
