package localbash

import (
	"errors"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// nextData returns where the next bytes of file at or after the offset at begin
// and end that are not in a hole: after the last hole, from the size of the file
// to wherever it ends, as a file in /proc has bytes after its size. A file
// system that does not tell where holes are has one run of bytes.
func nextData(file *os.File, at int64) (start, end int64, err error) {
	start, err = file.Seek(at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		start, err = file.Seek(0, io.SeekEnd)
		return start, math.MaxInt64, err
	}
	if err == nil {
		end, err = file.Seek(start, unix.SEEK_HOLE)
	}
	if err != nil || start < at || end <= start {
		return at, math.MaxInt64, nil
	}
	return start, end, nil
}
