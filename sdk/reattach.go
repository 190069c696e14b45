package sdk

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// Reattach says where a plugin waits that was started by hand, with --debug. It is the
// reattach configuration of go-plugin, as JSON in the file that [ReattachFile] names.
// A plugin in another language writes the same.
type Reattach struct {
	Name            string `json:"name"`
	Version         string `json:"version"`
	Protocol        string `json:"protocol"`         // "grpc"
	ProtocolVersion int    `json:"protocol_version"` // of relay's protocol
	Network         string `json:"network"`          // "unix"
	Address         string `json:"address"`          // of the socket
	Pid             int    `json:"pid"`
}

// ReattachFile is the file in which a plugin of this name says where it waits:
// relay/reattach/NAME.json in the user's cache folder.
func ReattachFile(name string) (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "relay", "reattach", name+".json"), err
}

// write puts the file in its place, for the user alone.
func (r Reattach) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(b, '\n'))
	if bad := tmp.Close(); err == nil {
		err = bad
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// remove takes the file away, unless another process has taken the place.
func (r Reattach) remove(path string) {
	var now Reattach
	if b, err := os.ReadFile(path); err == nil && json.Unmarshal(b, &now) == nil && now == r {
		os.Remove(path)
	}
}
