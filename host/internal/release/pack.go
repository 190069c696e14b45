package release

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Parcel is what Pack makes a release of.
type Parcel struct {
	// Name, Version and Summary are what the plugin says of itself.
	Name, Version, Summary string
	// Files are the plugin's files by platform.
	Files map[string]string
	// Cases is a file of calls that may be made to try the plugin; "" for none.
	Cases string
	// SignKey is the file of a minisign secret key, Password its own; "" signs nothing.
	SignKey, Password string
}

// Packed is where a release lies.
type Packed struct {
	Folder, Archive string
	Key             string // by which it is signed; "" when it is not
}

// Pack writes a release into a mirror folder: DIR/NAME/VERSION with sums and signature,
// the same as an archive, and a line in the index. A version that is there is not
// written again.
func Pack(dir string, p Parcel) (*Packed, error) {
	out := &Packed{Folder: filepath.Join(dir, p.Name, p.Version), Archive: filepath.Join(dir, p.Name+"_"+p.Version+".tar.gz")}
	if _, err := os.Lstat(out.Folder); !errors.Is(err, fs.ErrNotExist) {
		return nil, bad(out.Folder + " is there already; a version that was given away is never changed")
	}
	if err := os.MkdirAll(filepath.Dir(out.Folder), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(dir, ".packing-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	var sums bytes.Buffer
	for _, platform := range slices.Sorted(maps.Keys(p.Files)) {
		base := prefix + p.Name + "_" + p.Version + "_" + platform
		if err := copyFile(filepath.Join(tmp, base), p.Files[platform], 0o755); err != nil {
			return nil, err
		}
		hash, err := Hash(filepath.Join(tmp, base))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&sums, "%s  %s\n", hash, base)
	}
	texts := map[string][]byte{}
	if p.Cases != "" {
		if texts[casesFile], err = beneath.ReadPlain(p.Cases, maxText); err != nil {
			return nil, err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(texts[casesFile]), casesFile)
	}
	texts[sumsFile] = sums.Bytes()
	if p.SignKey != "" {
		key, err := secretKey(p.SignKey, p.Password)
		if err != nil {
			return nil, err
		}
		public := key.Public().(minisign.PublicKey)
		texts[minisigFile] = minisign.SignWithComments(key, sums.Bytes(), "relay plugin "+p.Name+" "+p.Version, "signature of "+sumsFile)
		if texts[keyFile], err = public.MarshalText(); err != nil {
			return nil, err
		}
		out.Key = schemeMinisign + public.String()
	}
	for name, b := range texts {
		if err := os.WriteFile(filepath.Join(tmp, name), b, 0o644); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	if err := archive(out.Archive, tmp, p.Name+"-"+p.Version); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, out.Folder); err != nil {
		return nil, err
	}
	return out, enter(dir, p)
}

// enter writes the release into the mirror's index.
func enter(dir string, p Parcel) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	index, err := ReadIndex(context.Background(), (&url.URL{Scheme: "file", Path: abs}).String(), "")
	if errors.Is(err, fs.ErrNotExist) {
		index, err = &Index{}, nil
	}
	if err != nil {
		return err
	}
	if index.Plugins == nil {
		index.Plugins = map[string]Listed{}
	}
	l := index.Plugins[p.Name]
	l.Summary, l.Versions = p.Summary, append(l.Versions, p.Version)
	index.Plugins[p.Name] = l
	return workspace.WriteJSON(filepath.Join(dir, indexFile), index)
}

// archive packs a folder, the same bytes for the same files.
func archive(to, dir, top string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	t := tar.NewWriter(z)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err == nil {
			err = addTo(t, filepath.Join(dir, e.Name()), top+"/"+e.Name())
		}
	}
	return errors.Join(err, t.Close(), z.Close(), f.Close())
}

func addTo(t *tar.Writer, path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(st.Mode().Perm()), Size: st.Size(), Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

// Hash is the SHA-256 of a file, in hexadecimal digits.
func Hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return launch.HashFile(f)
}

func copyFile(to, from string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// MakeKey writes a new secret key for signing, readable by its owner only, and gives the
// public one.
func MakeKey(path string) (string, error) {
	public, secret, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	text, err := secret.MarshalText()
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(text, '\n'))
	return schemeMinisign + public.String(), errors.Join(err, f.Close())
}

func secretKey(path, password string) (key minisign.PrivateKey, err error) {
	b, err := beneath.ReadPlain(path, maxText)
	if err != nil {
		return key, err
	}
	b = bytes.TrimSpace(b)
	if minisign.IsEncrypted(b) {
		return minisign.DecryptKey(password, b)
	}
	return key, key.UnmarshalText(b)
}

// Parts sorts files named relay-plugin-NAME[_OS_ARCH] by platform, for [Parcel].
func Parts(paths []string) (name string, files map[string]string, err error) {
	files = map[string]string{}
	for _, path := range paths {
		f, ok := parseFile(filepath.Base(path))
		if !ok {
			return "", nil, bad(path + " is not named relay-plugin-NAME or relay-plugin-NAME_OS_ARCH")
		}
		if name != "" && f.name != name {
			return "", nil, bad("these are two plugins: " + strings.Join([]string{name, f.name}, " and "))
		}
		name = f.name
		f.platform = cmp.Or(f.platform, catalog.Platform)
		if _, twice := files[f.platform]; twice {
			return "", nil, bad("there are two files for " + f.platform)
		}
		files[f.platform] = path
	}
	if files[catalog.Platform] == "" {
		return "", nil, bad("there is none for " + catalog.Platform + ", which says what it is")
	}
	return name, files, nil
}
