package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const sumsFile = "SHA256SUMS"

// member is one file of an archive.
type member struct {
	name, path string
	mode       int64
}

// pack writes an archive below the folder top: the same bytes for the same files and time.
func pack(to, top string, members []member, at time.Time) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // no name and no time in its header
	t := tar.NewWriter(z)
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	for _, m := range members {
		if err = add(t, top+"/"+m.name, m, at); err != nil {
			break
		}
	}
	return errors.Join(err, t.Close(), z.Close(), f.Close())
}

func add(t *tar.Writer, name string, m member, at time.Time) error {
	b, err := os.ReadFile(m.path)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: m.mode, Size: int64(len(b)), ModTime: at, Format: tar.FormatUSTAR}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = t.Write(b)
	return err
}

// below lists the files of a folder, by their names in it.
func below(dir string) (all []member, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all = append(all, member{filepath.ToSlash(name), path, 0o644})
		return err
	})
	return all, err
}

// hashes gives the SHA-256 of each file of a folder.
func hashes(dir string) (map[string]string, error) {
	all := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if all[f.Name()], err = hash(filepath.Join(dir, f.Name())); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// writeSums writes SHA256SUMS as `sha256sum -c` and `shasum -a 256 -c` read it.
func writeSums(dir string) error {
	all, err := hashes(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s  %s\n", all[name], name)
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), b.Bytes(), 0o644)
}

// same says in which files two releases differ.
func same(a, b string) error {
	one, err := hashes(a)
	if err != nil {
		return err
	}
	other, err := hashes(b)
	if err != nil {
		return err
	}
	var differ []string
	for name := range one {
		if one[name] != other[name] {
			differ = append(differ, name)
		}
	}
	for name := range other {
		if one[name] == "" {
			differ = append(differ, name)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	slices.Sort(differ)
	return fmt.Errorf("two builds of one commit are not the same: %s", strings.Join(differ, ", "))
}

// take puts the files of a release into the folder that was asked for, and takes away
// those of earlier ones.
func take(to, from string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(to, "relay[_.]*"))
	if err != nil {
		return err
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
