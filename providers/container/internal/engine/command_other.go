//go:build !unix

package engine

import "os/exec"

func detach(*exec.Cmd) {}

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
