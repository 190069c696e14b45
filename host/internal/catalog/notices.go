package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Notices are what the publisher of a plugin says against versions of it, with the reasons.
type Notices struct {
	// Newest is the highest version that nothing is said against.
	Newest string `json:"newest,omitempty"`
	// Withdrawn are versions that nobody should take any more; what is pinned continues.
	Withdrawn map[string]string `json:"withdrawn,omitempty"`
	// Advisories are versions that are not to be started any more.
	Advisories map[string]string `json:"advisories,omitempty"`
}

// maxNotices bounds what is kept of one mirror, in bytes.
const maxNotices = 1 << 20

// noticesOf is where the notices of a mirror are kept: beside the plugins, so that a start
// needs no network.
func noticesOf(installDir, mirror string) string {
	sum := sha256.Sum256([]byte(strings.TrimSuffix(mirror, "/")))
	return filepath.Join(installDir, ".notices", hex.EncodeToString(sum[:16])+".json")
}

// KeepNotices keeps what the index of a mirror says, by plugin, in place of what it said before.
func KeepNotices(installDir, mirror string, said map[string]Notices) error {
	at := noticesOf(installDir, mirror)
	if len(said) == 0 {
		if err := os.Remove(at); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.Marshal(said)
	if err == nil && len(b) > maxNotices {
		err = errors.New("its index says more against versions than relay keeps")
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(at), 0o700)
	}
	if err != nil {
		return err
	}
	return workspace.WriteScratch(at, b)
}

// noted is what the mirror of a pin said when its index was last read. A process that can't read it
// knows nothing.
func (p Pin) noted(installDir string) (n Notices) {
	mirror, name := path.Split(p.From)
	if b, err := workspace.ReadFile(noticesOf(installDir, mirror), maxNotices); err == nil {
		var said map[string]Notices
		if json.Unmarshal(b, &said) == nil {
			n = said[name]
		}
	}
	return n
}

// heed says in an entry what its publisher says against the version.
func (e *Entry) heed(n Notices) {
	fix := "`relay plugin upgrade " + e.Name + "` takes " + n.Newest
	if n.Newest == "" || n.Newest == e.Version {
		fix = "`relay plugin outdated` asks for a newer version; `relay plugin remove " + e.Name + "` gives it up"
	}
	if why, bad := n.Advisories[e.Version]; bad && e.State == "" {
		e.State, e.Reason, e.fix = Advised, "its publisher warns of version "+e.Version+": "+format.Clip(why, 300), fix
	} else if why, gone := n.Withdrawn[e.Version]; gone {
		e.Withdrawn = "withdrawn by its publisher: " + format.Clip(why, 300) + "; " + fix
	}
}
