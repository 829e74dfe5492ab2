//go:build !unix

package container

import "os/exec"

func detach(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
