//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// detach gives cmd a process group of its own, so that an interrupt at the
// terminal is for this program to handle, and all that cmd starts can be ended
// with it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends cmd and what it has started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
