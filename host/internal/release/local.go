package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Local takes a release from a file, an archive or a folder of this machine. scratch is
// the folder in which it makes its private one; key the publisher's where it is known.
func Local(place, scratch, key string) (*Release, error) {
	abs, err := filepath.Abs(place)
	if err != nil {
		return nil, refuse(place, err)
	}
	r, err := newRelease(scratch)
	if err != nil {
		return nil, err
	}
	r.Local = abs
	if err = r.takeLocal(abs); err == nil {
		err = r.settle(key)
	}
	if err != nil {
		r.Close()
		return nil, refuse(place, err)
	}
	return r, nil
}

func (r *Release) takeLocal(place string) error {
	st, err := os.Stat(place)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return r.takeFolder(place)
	case !st.Mode().IsRegular():
		return bad("it is not a file and no folder")
	}
	f, err := os.Open(place)
	if err != nil {
		return err
	}
	defer f.Close()
	if isArchive(place) {
		return r.takeArchive(place, f, st.Size())
	}
	base := filepath.Base(place)
	if _, ok := parseFile(base); !ok {
		return bad("a plugin's file is named relay-plugin-NAME, an archive ends in .tar.gz, .tgz or .zip")
	}
	return r.take(base, f)
}

// takeFolder takes the files of a folder; what lies deeper does not matter.
func (r *Release) takeFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, plugin := parseFile(e.Name()); !plugin && !slices.Contains(textFiles, e.Name()) {
			continue
		}
		fd, err := unix.Open(filepath.Join(dir, e.Name()), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ELOOP) {
			return bad(e.Name() + " is a symbolic link; a release has files only")
		} else if err != nil {
			return &fs.PathError{Op: "open", Path: filepath.Join(dir, e.Name()), Err: err}
		}
		f := os.NewFile(uintptr(fd), e.Name())
		st, err := f.Stat()
		if err == nil && !st.Mode().IsRegular() {
			err = bad(e.Name() + " is not a file")
		}
		if err == nil {
			err = r.take(e.Name(), f)
		}
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tar.gz", ".tgz", ".zip"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// takeArchive takes the files of an archive. Nothing is written under a name of the
// archive's own making but the few that a release has, so nothing can lead out of the
// folder; an archive that tries is refused as a whole all the same.
func (r *Release) takeArchive(name string, f *os.File, size int64) error {
	if strings.HasSuffix(name, ".zip") {
		return r.takeZip(f, size)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return bad("it is not a gzip file: " + err.Error())
	}
	t := tar.NewReader(&counted{r: z, left: maxAll})
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return bad("it is not a tar archive: " + err.Error())
		case n >= maxFiles:
			return bad(fmt.Sprintf("it has more than %d files", maxFiles))
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir:
			return bad(fmt.Sprintf("%.100q in it is a link or a device; a release has files only", h.Name))
		}
		if err := r.takeMember(h.Name, h.Typeflag == tar.TypeDir, t); err != nil {
			return err
		}
	}
}

func (r *Release) takeZip(f *os.File, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return bad("it is not a zip archive: " + err.Error())
	}
	if len(z.File) > maxFiles {
		return bad(fmt.Sprintf("it has more than %d files", maxFiles))
	}
	for _, m := range z.File {
		if mode := m.Mode(); !mode.IsRegular() && !mode.IsDir() {
			return bad(fmt.Sprintf("%.100q in it is a link or a device; a release has files only", m.Name))
		}
		in, err := m.Open()
		if err != nil {
			return bad(err.Error())
		}
		err = r.takeMember(m.Name, m.Mode().IsDir(), in)
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// takeMember takes a file that lies at the top of an archive, or in a single folder there.
func (r *Release) takeMember(name string, dir bool, from io.Reader) error {
	clean := path.Clean(name)
	if !filepath.IsLocal(clean) || strings.ContainsAny(name, "\\\x00") {
		return bad(fmt.Sprintf("%.100q in it leads out of the folder that it is unpacked in", name))
	}
	if dir || strings.Count(clean, "/") > 1 {
		return nil
	}
	return r.take(path.Base(clean), from)
}

// counted ends a stream that unpacks to more than anybody wants.
type counted struct {
	r    io.Reader
	left int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.left -= int64(n); c.left < 0 {
		return n, bad(fmt.Sprintf("it unpacks to more than %d GB", int64(maxAll)>>30))
	}
	return n, err
}
