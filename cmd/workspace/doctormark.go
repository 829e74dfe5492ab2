package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/workspacekit/workspacekit/internal/ops"
	"github.com/workspacekit/workspacekit/workspace"
)

// markPrefix begins the names of the files that doctors write.
const markPrefix = ".workspace-doctor-"

// mark is the one file that an examination writes.
type mark struct {
	name    string // empty if there is none
	written bool   // and not only tried to be
	version workspace.Version
}

// isMark reports whether info is a file that a doctor has written.
func isMark(info workspace.FileInfo) bool { return strings.HasPrefix(info.Name, markPrefix) }

// markData is content that whatever takes it for text would change. Each n is
// another one.
func markData(n byte) []byte {
	data := []byte{n, 0, 0xFF, 0xFE}
	for b := range 256 {
		data = append(data, byte(b))
	}
	return append(data, "\r\nworkspace doctor\r\n\n"...)
}

// write makes the file, under a name that is free and allowed.
func (e *examination) write(ctx context.Context) outcome {
	if !e.ws.Capabilities().Write {
		return skipped("read-only: not tried")
	}
	base := markPrefix + strings.ToLower(rand.Text()[:10])
	err := e.create(ctx, base)
	if errors.Is(err, workspace.ErrPolicy) {
		err = e.makeElsewhere(ctx, base)
	}
	switch {
	case errors.Is(err, workspace.ErrPolicy):
		return skipped("not tried: no name was found that is allowed")
	case err != nil:
		return failed(err)
	}
	read, err := e.ws.ReadFile(ctx, e.mark.name)
	if err != nil {
		return failed(err)
	}
	if !bytes.Equal(read, markData(0)) {
		return outcome{
			status: statusFail, detail: fmt.Sprintf("%d bytes were written, and %d others read back", len(markData(0)), len(read)),
			remedy: "Do not use this store: it does not keep files as they are.",
		}
	}
	detail := "written, read back the same"
	if dir, _ := workspace.Split(e.mark.name); dir != "." {
		detail += ", in " + dir
	}
	return healthy(detail)
}

// create makes the file name, and replaces none.
func (e *examination) create(ctx context.Context, name string) error {
	opts := &workspace.WriteOptions{IfNotExist: e.ws.Capabilities().ConditionalWrite}
	if !opts.IfNotExist {
		_, err := e.ws.Stat(ctx, name)
		switch {
		case err == nil:
			return ops.Error(ops.WriteFile, name, fs.ErrExist, nil)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	e.mark.name = name // which may exist although an error says otherwise
	version, err := e.ws.WriteFile(ctx, name, markData(0), opts)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, workspace.ErrPolicy) {
		e.mark.name = "" // it is somebody else's
	}
	e.mark.written, e.mark.version = err == nil, version
	return err
}

// The most that is done to find a name that is allowed.
const (
	maxSeen  = 1000
	maxNames = 50
)

// makeElsewhere makes the file beside what can be seen in the workspace, as
// that is what is allowed: in each directory, and with the ending of each file.
func (e *examination) makeElsewhere(ctx context.Context, base string) error {
	tried := map[string]bool{base: true}
	for _, name := range e.elsewhere(ctx, base) {
		if tried[name] || len(tried) > maxNames {
			continue
		}
		tried[name] = true
		if err := e.create(ctx, name); !errors.Is(err, workspace.ErrPolicy) {
			return err
		}
	}
	return ops.Error(ops.WriteFile, base, workspace.ErrPolicy, nil)
}

// elsewhere returns names that base can have beside what there is.
func (e *examination) elsewhere(ctx context.Context, base string) []string {
	var names []string
	seen := 0
	// What cannot be walked has no more names.
	_ = e.ws.Walk(ctx, ".", nil, func(info workspace.FileInfo, err error) error {
		if seen++; seen > maxSeen {
			return fs.SkipAll
		}
		if err != nil {
			return nil
		}
		dir, file := workspace.Split(info.Path)
		if info.IsDir() {
			dir, file = info.Path, ""
		}
		names = append(names, workspace.Join(dir, base+path.Ext(file)))
		return nil
	})
	return names
}

// cleanUpTime bounds the removal of the file, for which nobody has to wait.
const cleanUpTime = 10 * time.Second

// cleanUp removes the file, also if ctx has ended.
func (e *examination) cleanUp(ctx context.Context) {
	if e.mark.name == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	begun := time.Now()
	err := e.ws.Rm(ctx, e.mark.name, nil)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	if _, gone := e.ws.Stat(ctx, e.mark.name); gone != nil && (errors.Is(gone, fs.ErrNotExist) || !e.mark.written) {
		return
	}
	e.found.left = e.mark.name
	e.add(probeCleanUp, outcome{status: statusFail, err: err}, time.Since(begun))
	last := &e.found.Probes[len(e.found.Probes)-1]
	last.Detail = e.mark.name + " could not be removed: " + last.Detail
	last.Remedy = "Remove that file by hand. " + last.Remedy
}
