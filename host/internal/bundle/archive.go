package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
)

// The bounds of an archive, in bytes.
const (
	maxManifest = 16 << 20
	maxTexts    = 256 << 20 // of all members but the objects
	maxObjects  = 2 << 30
	maxText     = 16 << 20 // of one
)

// Refused says why an archive is not what relay wrote.
type Refused struct{ Err error }

func (r *Refused) Error() string { return "the archive is refused: " + r.Err.Error() }

// Unwrap gives the reason.
func (r *Refused) Unwrap() error { return r.Err }

func refuse(format string, args ...any) error { return &Refused{fmt.Errorf(format, args...)} }

// Member is a file of the archive.
type Member struct {
	Name string
	text []byte
}

// Text is a member with a text.
func Text(name string, text []byte) Member { return Member{name, text} }

// Note is an attestation as a member.
func Note(commit, text string) Member { return Text(notesDir+commit+notesEnd, []byte(text)) }

// Objects is the pack of git's objects.
func Objects(pack []byte) Member { return Text(objectsName, pack) }

// Content is the text of a member.
func (m *Member) Content() []byte { return m.text }

// subject measures a member.
func (m *Member) subject() Subject {
	sum, s := sha256.Sum256(m.text), Subject{Name: m.Name}
	s.Annotations.Bytes = int64(len(m.text))
	s.Digest = map[string]string{"sha256": hex.EncodeToString(sum[:])}
	return s
}

// header is how a member stands in the archive: nothing but its name and size.
func header(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
}

// Write writes the archive of facts and members: the same bytes for the same ones. seal
// signs the manifest.
func Write(w io.Writer, f Facts, members []Member, seal func(kind string, payload []byte) ([]byte, error)) error {
	members = slices.SortedFunc(slices.Values(members), func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	m := Manifest{Type: statementType, PredicateType: predicateType, Predicate: f}
	for i := range members {
		m.Subject = append(m.Subject, members[i].subject())
	}
	sealed, err := seal(payloadType, attest.JSON(m))
	if err == nil && len(sealed) > maxManifest {
		err = errors.New("there is too much for one archive")
	}
	if err != nil {
		return err
	}
	z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // the level is one that there is
	t := tar.NewWriter(z)
	for _, member := range slices.Insert(members, 0, Text(ManifestName, sealed)) {
		if err := t.WriteHeader(header(member.Name, int64(len(member.text)))); err != nil {
			return err
		}
		if _, err := t.Write(member.text); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

// gzipHeader is what Go's gzip begins with: no name, no time, no system, the best compression.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"

// read reads an archive in one pass. manifest takes the first member and says what has to
// follow; take gets each other member, whose digest is looked at afterwards.
func read(r io.Reader, manifest func(sealed []byte) ([]Subject, error), take func(s Subject, r io.Reader) error) error {
	in := bufio.NewReader(r) // which gzip does not read beyond its end
	head, _ := in.Peek(len(gzipHeader))
	z, err := gzip.NewReader(in)
	if err != nil {
		return refuse("it is not a tar.gz: %w", err)
	}
	z.Multistream(false)
	if string(head) != gzipHeader {
		return refuse("its gzip header is not relay's")
	}
	// What is read is written again beside that: tar has many ways to say the same.
	was, again := sha256.New(), sha256.New()
	t, same := tar.NewReader(io.TeeReader(z, was)), tar.NewWriter(again)
	h, err := t.Next()
	if err != nil || h.Name != ManifestName || h.Typeflag != tar.TypeReg || h.Size > maxManifest {
		return refuse("its first member is not %s", ManifestName)
	}
	sealed, err := io.ReadAll(io.LimitReader(t, maxManifest))
	if err != nil {
		return refuse("it can't be read: %w", err)
	}
	if err := same.WriteHeader(header(h.Name, h.Size)); err != nil {
		return refuse("its tar is not relay's: %w", err)
	}
	_, _ = same.Write(sealed) // a digest takes everything
	list, err := manifest(sealed)
	if err != nil {
		return err
	}
	for _, s := range list {
		if err := one(t, same, s, take); err != nil {
			return err
		}
	}
	if h, err := t.Next(); err == nil {
		return refuse("%q is not in the manifest", h.Name)
	} else if err != io.EOF {
		return refuse("it can't be read: %w", err)
	}
	if n, err := io.CopyN(io.Discard, z, 1); n > 0 {
		return refuse("something follows its last member")
	} else if err != io.EOF {
		return refuse("it can't be read: %w", err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return refuse("something follows its end")
	}
	if err := same.Close(); err != nil || !equal(was, again) {
		return refuse("its tar is not relay's")
	}
	return nil
}

// one reads a member that has to be s.
func one(t *tar.Reader, same *tar.Writer, s Subject, take func(s Subject, r io.Reader) error) error {
	size := s.Annotations.Bytes
	h, err := t.Next()
	switch {
	case err == io.EOF:
		return refuse("%s is missing", s.Name)
	case err != nil:
		return refuse("it can't be read: %w", err)
	case h.Name != s.Name || h.Typeflag != tar.TypeReg || h.Size != size:
		return refuse("%q stands where %s has to be, a file of %d bytes", h.Name, s.Name, size)
	}
	if err := same.WriteHeader(header(s.Name, size)); err != nil {
		return refuse("its tar is not relay's: %w", err)
	}
	digest := sha256.New()
	body := io.TeeReader(t, io.MultiWriter(same, digest))
	err = take(s, body)
	if _, own := errors.AsType[*fs.PathError](err); own { // the disk is full, for example
		return err
	}
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	if err != nil {
		return refuse("it can't be read: %w", err)
	}
	if hex.EncodeToString(digest.Sum(nil)) != s.Digest["sha256"] {
		return refuse("%s is not what was signed", s.Name)
	}
	return nil
}

func equal(a, b hash.Hash) bool { return bytes.Equal(a.Sum(nil), b.Sum(nil)) }
