package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// RelayVersion is that of a program relay. Two that were built without one differ by their digest.
func RelayVersion(program string) (string, error) {
	out, err := exec.Command(program, "version", "--json").Output()
	var doc struct{ Version, Digest string }
	if err == nil {
		if err = json.Unmarshal(out, &doc); err == nil && doc.Version == "" {
			err = errors.New("its answer has none")
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s doesn't say its version: %w (fix: `%s version`)", program, err, program)
	}
	if doc.Digest != "" {
		return "devel-" + doc.Digest[:min(12, len(doc.Digest))], nil
	}
	return doc.Version, nil
}

// same is an error if the worker's relay has been replaced by one of another version: a run is made by the version that it was
// submitted for.
func (w *Worker) same() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := os.Stat(w.Relay)
	if w.RelayVersion == "" || err == nil && w.known != nil && os.SameFile(info, w.known) && info.ModTime().Equal(w.known.ModTime()) && info.Size() == w.known.Size() {
		return nil
	}
	now, err := RelayVersion(w.Relay)
	if err == nil && now != w.RelayVersion {
		err = fmt.Errorf("%s is version %s now, and was %s when this worker was started (fix: restart the worker)", w.Relay, now, w.RelayVersion)
	}
	if err == nil {
		w.known = info
	}
	return err
}
