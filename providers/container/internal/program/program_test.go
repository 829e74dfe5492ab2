package program_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/workspacekit/workspacekit/providers/container/internal/program"
)

// TestTextBeginsWithConstants checks that every status that a function returns by
// a name is one of those that Go writes down.
func TestTextBeginsWithConstants(t *testing.T) {
	text, err := program.Text()
	if err != nil {
		t.Fatal(err)
	}
	constants, functions, ok := strings.Cut(text, "# What a shell in the container is taught")
	if !ok || !strings.HasPrefix(constants, "#") {
		t.Fatalf("Text() begins with %.80q, want the constants", text)
	}
	own := map[string]bool{"result": true, "outcome": true, "ended": true} // what a function has noted
	for _, name := range regexp.MustCompile(`(?:return|exit) \$([a-z]+)`).FindAllStringSubmatch(functions, -1) {
		if !own[name[1]] && !strings.Contains(constants, "\n"+name[1]+"=") {
			t.Errorf("a function returns $%s, which is no constant of package program:\n%s", name[1], constants)
		}
	}
	for _, want := range []string{"missing=10\n", "again=29\n", "vanished=31\n", "other=100\n", "prefix='.workspacekit-tmp-'\n"} {
		if !strings.Contains(constants, want) {
			t.Errorf("the constants lack %q:\n%s", want, constants)
		}
	}
}

// TestNoTemporaryNames has a program say the name of a temporary file.
func TestNoTemporaryNames(t *testing.T) {
	const said, want = "mv: cannot move './.workspacekit-tmp-ABC27' to './x': Input/output error", "mv: cannot move './(temporary file)' to './x': Input/output error"
	if err := program.StatusError(program.StatusFailed, []byte(said)); err.Error() != want {
		t.Errorf("StatusError(StatusFailed, %q) = %q, want %q", said, err, want)
	}
}

// TestGreetingOfRoot reads what root may by its capabilities.
func TestGreetingOfRoot(t *testing.T) {
	greeting := func(user, capabilities string) string {
		return strings.Join([]string{"7", "7", "20 10", user, "0", "", "-a", "-I", "1", "1", capabilities, "/a\nb"}, "\n") + "\n"
	}
	closed, err := program.ParseStat([]byte("41c0 5 1234 1000 1000 700 2026-01-02 03:04:05.678901234 +0000\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		user, capabilities string
		want               bool
	}{
		{"0", "", true},
		{"0", "not known", true},
		{"0", "0000000000000000", false},
		{"0", "0000000000000002", true},
		{"0", "0000000000000004", true},
		{"0", "00000000a80425f9", false},
		{"0", "000001ffffffffff", true},
		{"1", "", false},
		{"1", "000001ffffffffff", false},
	} {
		i, err := program.ParseGreeting(greeting(test.user, test.capabilities))
		if err != nil || i.Root != "/a\nb" {
			t.Fatalf("ParseGreeting(%q) = %+v, %v, want the root /a\nb", greeting(test.user, test.capabilities), i, err)
		}
		if got := i.MayRead(closed); got != test.want {
			t.Errorf("MayRead by the user %s with the capabilities %q = %v, want %v", test.user, test.capabilities, got, test.want)
		}
		if got := i.Hides(program.Entry{StatInfo: closed}); got == test.want {
			t.Errorf("Hides by the user %s with the capabilities %q = %v, want %v", test.user, test.capabilities, got, !test.want)
		}
	}
	if i, err := program.ParseGreeting(greeting("0", "00")[len("7\n7\n"):]); err == nil {
		t.Errorf("ParseGreeting of too few lines = %+v, want an error", i)
	}
}
