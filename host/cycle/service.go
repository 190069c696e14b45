package cycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// serviceLock is locks/<service>: which cycle works on it.
type serviceLock struct {
	UUID  string    `json:"uuid"`
	Since time.Time `json:"since"`
}

func (e *Env) servicePath(id string) string { return filepath.Join(e.WS.Locks(), id) }

// holder gives the cycle that has a service, "" when it is free.
func (e *Env) holder(id string) (string, error) {
	b, err := workspace.ReadFile(e.servicePath(id), 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var l serviceLock
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err != nil {
		return "", diag.Wrap(err, judge.BlockedLockHeld, "the lock of service "+id+" can't be read", "`rm "+diag.Word(e.servicePath(id))+"` if no cycle of it is in flight")
	}
	if !e.alive(l.UUID) {
		return "", nil
	}
	return l.UUID, nil
}

// lockService gives a service to a cycle. force takes it from another, which then goes
// on at the same time.
func (e *Env) lockService(id, uuid string, force bool) error {
	who, err := e.holder(id)
	if err != nil && !force {
		return err
	}
	if who != "" && !force {
		return diag.New(judge.BlockedLockHeld, "service "+id+" has a cycle in progress", "cycle "+Short(who)+" works on it",
			"`relay show "+Short(who)+"`, then finish or abort it; `relay audit start "+id+" --force` begins a second one beside it")
	}
	return workspace.WriteJSON(e.servicePath(id), serviceLock{uuid, e.now().UTC()})
}

// unlockService frees a service, unless another cycle has taken it.
func (e *Env) unlockService(id, uuid string) error {
	return e.locked(func() error {
		b, err := workspace.ReadFile(e.servicePath(id), 4<<10)
		var l serviceLock
		if err != nil || json.Unmarshal(b, &l) != nil || l.UUID != uuid {
			return nil
		}
		return os.Remove(e.servicePath(id))
	})
}

// rotation is rotation.json: whose turn it is, by service.
type rotation map[string]int

func (e *Env) rotationPath() string { return filepath.Join(e.WS.Dir(), "rotation.json") }

func (e *Env) rotation() (rotation, error) {
	r := rotation{}
	b, err := workspace.ReadFile(e.rotationPath(), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "the rotation of revisers can't be read", "`rm "+diag.Word(e.rotationPath())+"` restarts every rotation")
	}
	return r, nil
}

// Reviser says who revises in the next cycle of a service.
func (e *Env) Reviser(s *config.Service) (string, error) {
	r, err := e.rotation()
	if err != nil {
		return "", err
	}
	return turn(s, r[s.Service.ID]), nil
}

func turn(s *config.Service, n int) string {
	all := s.Revisers()
	return all[((n%len(all))+len(all))%len(all)]
}

// Rotate gives the turn to the next one and says who that is.
func (e *Env) Rotate(s *config.Service) (next string, err error) {
	err = e.locked(func() error {
		_, next, err = e.rotate(s)
		return err
	})
	if err == nil && e.Log != nil {
		e.Log("-", s.Service.ID, "operator rotate: the next cycle is revised by "+next)
	}
	_ = e.WS.Publish() // old copies harm nothing
	return next, err
}

// rotate moves the turn on and gives who has it now and who comes next.
func (e *Env) rotate(s *config.Service) (now, next string, err error) {
	r, err := e.rotation()
	if err != nil {
		return "", "", err
	}
	n := r[s.Service.ID]
	r[s.Service.ID] = (n + 1) % len(s.Revisers())
	if err := workspace.WriteJSON(e.rotationPath(), r); err != nil {
		return "", "", err
	}
	return turn(s, n), turn(s, n+1), nil
}

// takeBranch names a cycle's branch.
func branchOf(s *config.Service, uuid string) string {
	return fmt.Sprintf("%s-%s", s.Service.BranchPrefix, uuid[:6])
}
