package checkcache

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/workspace"
)

// maxKept is how many checks are remembered of one repository; the oldest go first.
const maxKept = 500

// Store is the memory of one repository.
type Store struct {
	path string
	keys []string // oldest first
}

// Open reads what is remembered of the repository at root.
func Open(stateDir, root string) *Store {
	sum := sha256.Sum256([]byte(root))
	s := &Store{path: filepath.Join(stateDir, "passed", hex.EncodeToString(sum[:8]))}
	b, err := workspace.ReadFile(s.path, 1<<20)
	if err == nil {
		s.keys = strings.Fields(string(b))
	}
	return s
}

// key names one command on one tree.
func key(tree string, argv []string) string {
	h := sha256.New()
	h.Write([]byte(tree))
	for _, arg := range argv {
		h.Write([]byte("\x00" + arg))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Has says that the command passed on the tree.
func (s *Store) Has(tree string, argv []string) bool {
	return slices.Contains(s.keys, key(tree, argv))
}

// Add remembers that the command passed on the tree.
func (s *Store) Add(tree string, argv []string) {
	k := key(tree, argv)
	if slices.Contains(s.keys, k) {
		return
	}
	s.keys = append(s.keys, k)
	s.keys = s.keys[max(0, len(s.keys)-maxKept):]
	s.write()
}

// Remove forgets it.
func (s *Store) Remove(tree string, argv []string) {
	if i := slices.Index(s.keys, key(tree, argv)); i >= 0 {
		s.keys = slices.Delete(s.keys, i, i+1)
		s.write()
	}
}

func (s *Store) write() {
	if os.MkdirAll(filepath.Dir(s.path), 0o700) == nil {
		_ = workspace.WriteScratch(s.path, []byte(strings.Join(s.keys, "\n")+"\n"))
	}
}
