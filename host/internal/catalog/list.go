package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/workspace"
)

// List gives all plugins in the order of their names, and after them every file
// beside relay that looks like a plugin and is not one, each with its state. It
// starts nothing; hashes come from a cache when the file has not changed.
func (c *Catalog) List() []Entry {
	list := slices.Clone(c.entries)
	cache := loadCache(c.cacheDir)
	known := map[string]bool{}
	for i := range list {
		e := &list[i]
		known[e.Path] = true
		if e.State != OK || e.Attach != nil {
			continue
		}
		switch hash, err := cache.hash(e.Path); {
		case err != nil:
			e.State, e.Reason = Missing, err.Error()
		case hash != e.SHA256:
			e.State, e.Reason = HashDiffers, fmt.Sprintf("%s has the SHA-256 %.16s…; pinned is %.16s…", e.Path, hash, e.SHA256)
		}
	}
	cache.save()
	return append(list, c.others(known)...)
}

// others gives the files beside relay that are named like plugins and are none of
// the known ones.
func (c *Catalog) others(known map[string]bool) (list []Entry) {
	for _, dir := range c.beside {
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			path := filepath.Join(dir, f.Name())
			name, ok := strings.CutPrefix(f.Name(), filePrefix)
			if !ok || known[path] {
				continue
			}
			e := Entry{Name: name, Path: path, State: NotLocked, Reason: "nothing pins it: it was not built with this relay, and relay.lock.json does not name it"}
			if bad := launch.UnsafeFile(path); bad != nil {
				e.State, e.Reason = Ignored, "it "+bad.Why
			}
			if !ValidName(name) {
				e.State, e.Reason = Ignored, "its name is not a plugin's name"
			}
			if slices.ContainsFunc(c.entries, func(have Entry) bool { return have.Name == name && have.State == OK }) {
				e.State, e.Reason = Ignored, "another file of this name is the plugin"
			}
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// hashCache remembers hashes by what the kernel says of a file. It is for showing
// only: a launch always reads the file.
type hashCache struct {
	path    string
	Files   map[string]cached `json:"files"`
	changed bool
}

type cached struct {
	Dev    uint64 `json:"dev"`
	Ino    uint64 `json:"ino"`
	Size   int64  `json:"size"`
	MTime  int64  `json:"mtime"` // nanoseconds
	CTime  int64  `json:"ctime"`
	SHA256 string `json:"sha256"`
}

func loadCache(dir string) *hashCache {
	c := &hashCache{path: filepath.Join(dir, "hashes.json")}
	if b, err := workspace.ReadFile(c.path, 4<<20); err != nil || json.Unmarshal(b, c) != nil || c.Files == nil {
		c.Files = map[string]cached{}
	}
	return c
}

func (c *hashCache) hash(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	key := fingerprint(st)
	have := c.Files[path]
	key.SHA256 = have.SHA256
	if have == key && key.Ino != 0 && have.SHA256 != "" {
		return have.SHA256, nil
	}
	if key.SHA256, err = launch.HashFile(f); err != nil {
		return "", err
	}
	c.Files[path], c.changed = key, true
	return key.SHA256, nil
}

// save keeps the cache; when that fails, the next list is slower.
func (c *hashCache) save() {
	if !c.changed {
		return
	}
	for path := range c.Files {
		if _, err := os.Lstat(path); err != nil {
			delete(c.Files, path)
		}
	}
	b, err := json.Marshal(c)
	if err == nil && os.MkdirAll(filepath.Dir(c.path), 0o700) == nil {
		_ = workspace.WriteScratch(c.path, b)
	}
}
