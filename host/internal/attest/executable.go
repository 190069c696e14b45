package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/internal/workspace"
)

// known is the digest of relay's program file when it was last computed.
type known struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Time   int64  `json:"mtime_ns"`
	SHA256 string `json:"sha256"`
}

// executable is the digest of the program file that runs, "" where it can't be read. A file
// of the same size and time is not read again.
func executable(dir string) string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return ""
	}
	now := known{Path: path, Size: fi.Size(), Time: fi.ModTime().UnixNano()}
	kept := filepath.Join(dir, "executable.json")
	var was known
	if b, err := workspace.ReadFile(kept, maxKey); err == nil && json.Unmarshal(b, &was) == nil {
		if now.SHA256 = was.SHA256; now == was {
			return was.SHA256
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	now.SHA256 = hex.EncodeToString(h.Sum(nil))
	if os.MkdirAll(dir, 0o700) == nil {
		_ = workspace.WriteFile(kept, JSON(now)) // it is computed again otherwise
	}
	return now.SHA256
}
