package process_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/workspacekit/workspacekit/internal/process"
)

func Example() {
	p, ok := process.Parse(process.This().String())
	ended, known := p.Ended(process.This())
	fmt.Println(ok, ended, known)
	// Output: true false true
}

func TestEnded(t *testing.T) {
	t.Parallel()
	self := process.This()
	with := func(change func(p *process.Process)) process.Process {
		p := self
		change(&p)
		return p
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name         string
		p            process.Process
		ended, known bool
	}{
		{"this", self, false, true},
		{"one that has ended", with(func(p *process.Process) { p.Number, p.Start = cmd.Process.Pid, "7" }), true, true},
		{"another one with this number", with(func(p *process.Process) { p.Start = "7" }), true, true},
		{"without a start", with(func(p *process.Process) { p.Start = "0" }), false, true},
		{"before a boot", with(func(p *process.Process) { p.Boot = "0" }), true, true},
		{"another namespace", with(func(p *process.Process) { p.Space, p.Number = "0", 1<<30 }), false, false},
		{"another computer", with(func(p *process.Process) { p.User, p.Boot = "0", "0" }), false, false},
	} {
		if ended, known := test.p.Ended(self); ended != test.ended || known != test.known {
			t.Errorf("%s: Ended() = %v, %v, want %v, %v", test.name, ended, known, test.ended, test.known)
		}
	}
	for _, text := range []string{"", "a.b.c.1", "a.b.c.x.0", "a.b.c.0.0", "a.b.c.-1.0", "a.b.c.1.0.0"} {
		if p, ok := process.Parse(text); ok {
			t.Errorf("Parse(%q) = %v, want none", text, p)
		}
	}
}
