package release

import (
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

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/plugintest"
)

// Limits of what is taken, in bytes and in files.
const (
	maxBinary = 512 << 20
	maxAll    = 4 << 30
	maxText   = 1 << 20
	maxFiles  = 1000
)

// The files of a release beside the plugins themselves.
const (
	sumsFile    = "SHA256SUMS"
	minisigFile = sumsFile + ".minisig"
	ed25519File = sumsFile + ".sig"
	keyFile     = "minisign.pub"
	bundleFile  = sumsFile + ".sigstore.json"
	casesFile   = plugintest.CasesFile // the calls that may be made to try it
	prefix      = "relay-plugin-"
)

var textFiles = []string{sumsFile, minisigFile, ed25519File, keyFile, bundleFile, casesFile}

// Release is one version of a plugin as it was taken.
type Release struct {
	// Name is the plugin's, from the names of the files.
	Name string
	// Version is the release's, from the names of its files or the module's tag; "" when
	// neither has one. What the plugin says of itself is compared with it.
	Version string
	// Binary is this platform's file, in a private folder, and SHA256 its hash.
	Binary, SHA256 string
	// Hashes are those of all platforms, as the lock file has them.
	Hashes map[string]string
	// Key is the publisher's, by which the release is signed; "" when it is not. New:
	// it came with the release, and was not known before.
	Key string
	New bool
	// From says where releases are, for others too: a URL or a module. Local is the
	// place on this machine instead.
	From, Local string
	// Module and Toolchain are of a plugin that was built from source.
	Module, Toolchain string
	// Signed says that SHA256SUMS was signed by the key.
	Signed bool

	dir   string
	lock  *os.File          // on dir; the kernel takes it away with the process
	seen  map[string]string // file → hash
	total int64
}

// taking begins the names of the folders that releases are taken into; leftAfter keeps the
// sweep from one that is just being made.
const (
	taking    = ".taking-"
	leftAfter = time.Minute
)

func newRelease(scratch string) (*Release, error) {
	// what killed processes have left: each holds a plugin, tens of megabytes
	store.Sweep(scratch, taking, leftAfter, func(dir string) { os.RemoveAll(dir) })
	dir, err := os.MkdirTemp(scratch, taking)
	var lock *os.File
	if err == nil {
		lock, err = store.Hold(dir)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "relay can't make a folder for plugins", "`ls -ld "+diag.Word(scratch)+"`, then make it writable")
	}
	return &Release{dir: dir, lock: lock, seen: map[string]string{}}, nil
}

// Close removes what was taken.
func (r *Release) Close() {
	os.RemoveAll(r.dir)
	r.lock.Close()
}

// File is the name of a plugin's file taken apart.
type file struct{ name, version, platform string }

// parseFile reads "relay-plugin-NAME[_VERSION][_OS_ARCH]".
func parseFile(base string) (f file, ok bool) {
	rest, ok := strings.CutPrefix(base, prefix)
	if !ok {
		return f, false
	}
	parts := strings.Split(rest, "_")
	f.name = parts[0]
	switch len(parts) {
	case 1:
	case 2:
		f.version = parts[1]
	case 3:
		f.platform = parts[1] + "_" + parts[2]
	case 4:
		f.version, f.platform = parts[1], parts[2]+"_"+parts[3]
	default:
		return f, false
	}
	return f, catalog.ValidName(f.name)
}

// ours says that the file is for this machine; one that names no platform is taken to be.
func (f file) ours() bool { return f.platform == "" || f.platform == catalog.Platform }

// take takes one file of the release: this platform's plugin and the texts are kept, of
// other plugins only the hash. Any other file is left where it is.
func (r *Release) take(base string, from io.Reader) error {
	f, plugin := parseFile(base)
	text := slices.Contains(textFiles, base)
	if !plugin && !text {
		return nil
	}
	if _, twice := r.seen[base]; twice {
		return bad("it has two files " + base)
	}
	if plugin && f.version != "" {
		if r.Version != "" && r.Version != f.version {
			return bad(fmt.Sprintf("its files are of the versions %.100q and %.100q", r.Version, f.version))
		}
		r.Version = f.version
	}
	if len(r.seen) >= maxFiles {
		return bad(fmt.Sprintf("it has more than %d files", maxFiles))
	}
	var to io.Writer = io.Discard
	if text || f.ours() {
		out, err := os.OpenFile(filepath.Join(r.dir, base), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
		if err != nil {
			return err
		}
		defer out.Close()
		to = out
	}
	limit := int64(maxBinary)
	if text {
		limit = maxText
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), io.LimitReader(from, limit+1))
	r.total += n
	switch {
	case err != nil:
		return err
	case n > limit:
		return bad(fmt.Sprintf("%s is larger than %d MB", base, limit>>20))
	case r.total > maxAll:
		return bad(fmt.Sprintf("it is larger than %d GB", int64(maxAll)>>30))
	}
	r.seen[base] = hex.EncodeToString(h.Sum(nil))
	return nil
}

// notRelease is something that is not as a release must be.
type notRelease string

func (e notRelease) Error() string { return string(e) }

func bad(why string) error { return notRelease(why) }

// settle makes sense of what was taken: the sums and the signature hold, one plugin is
// in it, and it has a file for this machine. key is the publisher's where it is known.
func (r *Release) settle(key string) error {
	hashes := r.seen
	if _, ok := r.seen[sumsFile]; ok {
		sums, err := r.checkSums()
		if err != nil {
			return err
		}
		if err := r.checkSignature(key); err != nil {
			return err
		}
		hashes = sums
	} else if key != "" {
		return bad("it is not signed, and releases of this plugin are: it has no " + sumsFile)
	}
	r.Hashes = map[string]string{}
	bare := ""
	for base, hash := range hashes {
		f, ok := parseFile(base)
		if !ok {
			continue
		}
		if r.Name != "" && r.Name != f.name {
			return bad(fmt.Sprintf("it has more than one plugin: %s and %s", r.Name, f.name))
		}
		r.Name = f.name
		if f.platform == "" {
			bare = base
			continue
		}
		if _, twice := r.Hashes[f.platform]; twice {
			return bad("it has two files for " + f.platform)
		}
		r.Hashes[f.platform] = "sha256:" + hash
		if f.ours() {
			r.Binary, r.SHA256 = filepath.Join(r.dir, base), hash
		}
	}
	if r.Binary == "" && bare != "" {
		r.Binary, r.SHA256 = filepath.Join(r.dir, bare), hashes[bare]
		r.Hashes[catalog.Platform] = "sha256:" + hashes[bare]
	}
	switch {
	case r.Name == "":
		return bad("it has no file named relay-plugin-NAME")
	case r.Binary == "":
		return bad("it has no file for " + catalog.Platform)
	}
	if _, err := os.Lstat(r.Binary); err != nil {
		return bad(filepath.Base(r.Binary) + " is listed and not there")
	}
	return nil
}

// Cases are the calls that may be made to try the plugin; nil when the release has none.
func (r *Release) Cases() ([]byte, error) {
	if r.seen[casesFile] == "" {
		return nil, nil
	}
	return judge.ReadFile(filepath.Join(r.dir, casesFile), maxText)
}

// Only leaves out the hashes of all platforms but these and this machine's.
func (r *Release) Only(platforms []string) error {
	for _, at := range platforms {
		if r.Hashes[at] == "" {
			return diag.New(judge.BlockedPlugin, "this release of "+r.Name+" has no file for "+at, "it has one for "+strings.Join(slices.Sorted(maps.Keys(r.Hashes)), ", "),
				"`relay plugin install --help`; without --platform, every file that it has is pinned")
		}
	}
	if len(platforms) > 0 {
		maps.DeleteFunc(r.Hashes, func(at, _ string) bool { return at != catalog.Platform && !slices.Contains(platforms, at) })
	}
	return nil
}

// checkSums holds every file that was seen to SHA256SUMS, and gives what that lists.
func (r *Release) checkSums() (map[string]string, error) {
	b, err := judge.ReadFile(filepath.Join(r.dir, sumsFile), maxText)
	if err != nil {
		return nil, err
	}
	sums, err := parseSums(string(b))
	if err != nil {
		return nil, err
	}
	for base, hash := range r.seen {
		if _, plugin := parseFile(base); !plugin && base != casesFile {
			continue
		}
		switch want, listed := sums[base]; {
		case !listed:
			return nil, bad(base + " is not in " + sumsFile)
		case want != hash:
			return nil, bad(fmt.Sprintf("%s has the SHA-256 %.16s…; %s says %.16s…", base, hash, sumsFile, want))
		}
	}
	return sums, nil
}

// parseSums reads what sha256sum prints.
func parseSums(text string) (map[string]string, error) {
	sums := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		hash, name, ok := strings.Cut(line, " ")
		name = strings.TrimPrefix(strings.TrimPrefix(name, " "), "*")
		if b, err := hex.DecodeString(hash); !ok || err != nil || len(b) != sha256.Size || name == "" || strings.ContainsAny(name, "/\\\x00") {
			return nil, bad(fmt.Sprintf("%s has a line that is none: %.80q", sumsFile, line))
		}
		if _, twice := sums[name]; twice {
			return nil, bad(sumsFile + " has " + name + " twice")
		}
		sums[name] = strings.ToLower(hash)
	}
	return sums, nil
}

// refuse says for a person why a release was not taken.
func refuse(what string, err error) error {
	if _, ok := diag.As(err); ok || err == nil {
		return err
	}
	fix := "`ls -l " + diag.Word(what) + "`; ask its publisher for a release as docs/guides/plugins.md describes it"
	switch {
	case !strings.Contains(what, "/"):
		fix = "`relay plugin list` shows the plugins that are here already; `relay plugin install --help` says how to name a release"
	case strings.Contains(what, "://"):
		fix = "`relay plugin install --help`; ask its publisher for a release as docs/guides/plugins.md describes it"
	}
	if _, ok := errors.AsType[notRelease](err); ok {
		return diag.Wrap(err, judge.BlockedPlugin, what+" is not a plugin release that can be installed", fix)
	}
	return diag.Wrap(err, judge.BlockedPlugin, what+" can't be read", fix)
}
