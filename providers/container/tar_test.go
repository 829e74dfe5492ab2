package container_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workspacekit/workspacekit/providers/container"
	"github.com/workspacekit/workspacekit/workspace"
)

// archive returns a tar archive of files, in which a name that ends in a slash
// is a directory.
func archive(t *testing.T, files [][2]string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, file := range files {
		header := &tar.Header{Name: file[0], Mode: 0o640, Size: int64(len(file[1])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(file[0], "/") {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, file[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// unpacked returns the files of an archive by their names.
func unpacked(t *testing.T, b io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	r := tar.NewReader(b)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "./")] = string(data)
	}
}

func TestTarRoundTrip(t *testing.T) {
	inPlaces(t, func(t *testing.T, r *running) {
		f := r.open(t)
		files := [][2]string{
			{"dir/", ""}, {"dir/file", "content"}, {"dir/empty", ""}, {"-rf", "dash"},
			{"line\nbreak", "\x00\xff"}, {"large", strings.Repeat("0123456789abcdef", 200_000)},
		}
		want := map[string]string{}
		for _, file := range files {
			want[file[0]] = file[1]
		}
		var last container.TarProgress
		err := f.ImportTar(t.Context(), "new/place", archive(t, files), &container.TarOptions{
			Progress: func(p container.TarProgress) { last = p },
		})
		if err != nil {
			t.Fatalf("ImportTar = %v, want nil", err)
		}
		if last.Names != len(files) || last.Bytes != 3_200_000+7+4+2 || last.Path != "large" {
			t.Errorf("the last progress is %+v, want %d names up to %q", last, len(files), "large")
		}
		var out bytes.Buffer
		if err := f.ExportTar(t.Context(), "new/place", &out, nil); err != nil {
			t.Fatalf("ExportTar = %v, want nil", err)
		}
		if diff := cmp.Diff(want, unpacked(t, &out)); diff != "" {
			t.Errorf("what was imported is exported otherwise (-want +got):\n%.2000s", diff)
		}
	})
}

func TestImportTarRefuses(t *testing.T) {
	f := places()[0].start(t).open(t)
	for name, test := range map[string]struct {
		header tar.Header
		want   error
	}{
		"absolute":         {tar.Header{Name: "/etc/x", Typeflag: tar.TypeReg}, workspace.ErrEscape},
		"climbing":         {tar.Header{Name: "a/../../x", Typeflag: tar.TypeReg}, workspace.ErrEscape},
		"symlink-out":      {tar.Header{Name: "a/link", Linkname: "../../x", Typeflag: tar.TypeSymlink}, workspace.ErrEscape},
		"absolute-symlink": {tar.Header{Name: "link", Linkname: "/etc", Typeflag: tar.TypeSymlink}, workspace.ErrEscape},
		"device":           {tar.Header{Name: "null", Typeflag: tar.TypeChar}, fs.ErrInvalid},
		"reserved":         {tar.Header{Name: ".workspacekit-tmp-x", Typeflag: tar.TypeReg}, fs.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			if err := w.WriteHeader(&test.header); err != nil {
				t.Fatal(err)
			}
			w.Close()
			err := f.ImportTar(t.Context(), ".", &b, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("ImportTar of %q = %v, want %q", test.header.Name, err, test.want)
			}
			if infos, err := f.Ls(t.Context(), ".", nil); err != nil || len(infos) != 0 {
				t.Errorf("Ls after a refused archive = %v, %v, want nothing", infos, err)
			}
		})
	}
}

func TestImportTarOfATornArchive(t *testing.T) {
	f := places()[0].start(t).open(t)
	whole := archive(t, [][2]string{{"a", strings.Repeat("x", 100_000)}}).Bytes()
	err := f.ImportTar(t.Context(), ".", bytes.NewReader(whole[:50_000]), nil)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ImportTar of half an archive = %v, want %q", err, io.ErrUnexpectedEOF)
	}
	if _, err := f.WriteFile(t.Context(), "after", nil, nil); err != nil {
		t.Errorf("WriteFile after that = %v, want nil", err)
	}
}
