// Package process names processes, so that another one can tell later whether they have
// ended: who has left a container or a transaction behind. [This] is the process that
// runs, and its text, which [Parse] reads, shows nothing of the user or the computer.
package process

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Process is a process of some computer.
type Process struct {
	User   string // a digest of the user and the computer
	Boot   string // a digest of the time since which the computer runs
	Space  string // the namespace of the number, where there are such
	Number int
	Start  string // when it began, "0" if that is not known
}

// This returns the process that calls it.
func This() Process {
	host, _ := os.Hostname() // without one, computers look alike
	machine, _ := os.ReadFile("/etc/machine-id")
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return Process{
		User:   digest(host, string(machine), strconv.Itoa(os.Getuid())),
		Boot:   digest(string(boot)),
		Space:  digest(space),
		Number: os.Getpid(),
		Start:  cmp.Or(startOf(os.Getpid()), "0"),
	}
}

// String returns the process as a text of letters, digits and dots.
func (p Process) String() string {
	return strings.Join([]string{p.User, p.Boot, p.Space, strconv.Itoa(p.Number), p.Start}, ".")
}

// Parse returns the process that a text stands for, and false for any other text.
func Parse(text string) (Process, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 5 {
		return Process{}, false
	}
	number, err := strconv.Atoi(parts[3])
	return Process{User: parts[0], Boot: parts[1], Space: parts[2], Number: number, Start: parts[4]}, err == nil && number > 0
}

// Ended reports whether p has ended, if self, which runs, can know that: known is false
// for a process of another computer, another user or another namespace.
func (p Process) Ended(self Process) (ended, known bool) {
	switch {
	case p.User != self.User:
		return false, false
	case p.Boot != self.Boot: // no process outlives that
		return true, true
	case p.Space != self.Space: // its number means nothing here
		return false, false
	}
	return !p.lives(), true
}

// lives reports whether the process has not ended. Its number belongs to this
// computer, but another process may have it by now.
func (p Process) lives() bool {
	if p.Start != "0" {
		return startOf(p.Number) == p.Start
	}
	found, err := os.FindProcess(p.Number)
	if err != nil || runtime.GOOS == "windows" { // which finds only those that live
		return err == nil
	}
	err = found.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// startOf returns when a process began, as Linux counts; empty if there is none,
// or no such count.
func startOf(number int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(number) + "/stat")
	if err != nil {
		return ""
	}
	const after = 19 // words after the name, in which there may be anything
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) <= after {
		return ""
	}
	return fields[after]
}

// digest returns a short digest of texts.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
