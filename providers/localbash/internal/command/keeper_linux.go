package command

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// keeper ends what a Runner leaves when its process is killed: it is a shell that waits
// for the end of a pipe, which the kernel closes.
type keeper struct {
	mark    string // what the marks of all commands begin with
	scratch string
	home    string // in scratch
	cmd     *exec.Cmd
	pipe    *os.File
}

// keeperScript waits, kills all processes with the mark $1, and removes the directory $2.
// A process whose program the kernel replaces has no mark for a moment, so it looks several
// times. A line says that nothing was left.
const keeperScript = `trap '' HUP INT TERM
clean=0 looks=0
while read -r line; do clean=3; done
while [ $clean -lt 3 ] && [ $looks -lt 200 ]; do
	looks=$((looks + 1)) clean=$((clean + 1))
	for file in $(grep -ls "` + MarkName + `=$1[.]" /proc/[0-9]*/environ); do
		file=${file#/proc/} clean=0
		kill -9 "${file%/environ}" 2>/dev/null
	done
	[ $clean = 0 ] || sleep 0.1
done
rm -rf -- "$2"`

// newKeeper starts a keeper for the folder root.
func newKeeper(root, path string) (*keeper, error) {
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	if temp, err = filepath.EvalSymlinks(temp); err != nil {
		return nil, ErrTemp
	}
	if !outside(root, temp) {
		// Programs could swap directories above the home directory.
		return nil, ErrScratch
	}
	scratch, err := os.MkdirTemp(temp, "workspacekit-run-")
	if err != nil {
		return nil, ErrTemp
	}
	k := &keeper{mark: rand.Text(), scratch: scratch, home: filepath.Join(scratch, "home")}
	if err := k.start(path); err != nil {
		os.RemoveAll(scratch)
		return nil, err
	}
	return k, nil
}

// start creates the home directory and starts the shell.
func (k *keeper) start(path string) error {
	if err := os.Mkdir(k.home, 0o700); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	k.pipe = w
	k.cmd = &exec.Cmd{
		Path: shell, Args: []string{"sh", "-c", keeperScript, "keeper", k.mark, k.scratch},
		Dir: "/", Env: []string{"PATH=" + path + ":" + basePath}, Stdin: r,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := k.cmd.Start(); err != nil {
		w.Close()
		return errors.Join(ErrFailed, err)
	}
	return nil
}

// end ends the keeper, which removes the home directory. Every command has ended.
func (k *keeper) end() error {
	_, _ = k.pipe.WriteString("ended\n")
	k.pipe.Close()
	timer := time.AfterFunc(endWait, func() { _ = k.cmd.Process.Kill() })
	defer timer.Stop()
	return k.cmd.Wait()
}
