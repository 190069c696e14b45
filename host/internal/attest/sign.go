package attest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge/git"
)

// Who signs, as evidence.sign has it.
const (
	BySSH = "ssh" // the operator's, as git is configured
	Off   = "off" // any other is a key of relay's own, made when it is first needed
)

const maxKey = 64 << 10

// agentPatience is how long an agent may take: it may ask a person.
const agentPatience = 15 * time.Second

// KeyError is a key that can't be used: of git's configuration, or relay's own, which lies at
// Path.
type KeyError struct {
	Path string // "" for that of git's configuration
	Err  error
}

func (e *KeyError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("relay's own key, %s, can't be used: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *KeyError) Unwrap() error { return e.Err }

// Dir is where relay's own key and the signers of this machine are.
func Dir(stateDir string) string { return filepath.Join(stateDir, "attest") }

// OwnSigners are the keys that have signed on this machine: a file that can be copied to
// where commits are verified.
func OwnSigners(stateDir string) string { return filepath.Join(Dir(stateDir), "signers") }

// sign gives the signature of a message and the fingerprint of its key.
func (o *Options) sign(ctx context.Context, namespace string, message []byte) (sig []byte, print string, err error) {
	var key ed25519.PublicKey
	var plain []byte
	name := "relay"
	if o.Sign == BySSH {
		name = o.who(ctx)
		key, plain, err = o.signSSH(ctx, toSign(namespace, message))
	} else {
		var own ed25519.PrivateKey
		if own, err = ownKey(Dir(o.StateDir)); err == nil {
			key, plain = own.Public().(ed25519.PublicKey), ed25519.Sign(own, toSign(namespace, message))
		}
	}
	if err != nil {
		return nil, "", err
	}
	if !ed25519.Verify(key, toSign(namespace, message), plain) {
		return nil, "", errors.New("the key gave a signature that does not hold")
	}
	return putTogether(namespace, key, plain), fingerprint(key), o.know(name, namespace, key)
}

// know adds a key to the signers of this machine, for what it has signed.
func (o *Options) know(name, namespace string, key ed25519.PublicKey) error {
	text, err := workspace.ReadFile(OwnSigners(o.StateDir), maxKey)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	public, err := ssh.NewPublicKey(key)
	if err != nil {
		return err
	}
	known, _ := ParseSigners(string(text)) // without any there is an error
	for _, s := range known {
		if !s.key.Equal(key) {
			continue
		}
		if s.namespaces == nil || listed(s.namespaces, namespace) {
			return nil
		}
		name = strings.Join(s.names, ",") // the first line with the key names who it is
	}
	row := fmt.Sprintf("%s namespaces=\"%s\" %s", name, namespace, ssh.MarshalAuthorizedKey(public))
	if err := os.MkdirAll(Dir(o.StateDir), 0o700); err != nil {
		return err
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		row = "\n" + row
	}
	// Two runs at once may both add theirs, so the file is not written anew.
	f, err := os.OpenFile(OwnSigners(o.StateDir), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(row)
	return errors.Join(err, f.Sync(), f.Close())
}

// who is the operator's address, by which git's own signers go, too.
func (o *Options) who(ctx context.Context) string {
	out, err := o.Git.Run(ctx, nil, "config", "--get", "user.email")
	if who := strings.TrimSpace(string(out)); err == nil && who != "" && !strings.ContainsAny(who, " \t\"#,*?!") {
		return who
	}
	return "operator"
}

// ownKey is relay's own key; it is made when there is none.
func ownKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, "key")
	for range 2 {
		key, err := private(path)
		if err == nil {
			return key, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, &KeyError{Path: path, Err: err}
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		_, made, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		block, err := ssh.MarshalPrivateKey(made, "relay")
		if err != nil {
			return nil, err
		}
		tmp := path + "." + rand.Text()[:10]
		if err := os.WriteFile(tmp, pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, err
		}
		err = os.Link(tmp, path) // the first of two wins
		os.Remove(tmp)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return nil, errors.New(path + " can't be made")
}

// ExposedError is the file of a key with a mode that ssh does not accept either.
type ExposedError struct{ Path string }

func (e *ExposedError) Error() string { return "others can read it" }

// private reads a key as ssh-keygen writes it, without a passphrase.
func private(path string) (ed25519.PrivateKey, error) {
	b, err := beneath.ReadPlain(path, maxKey)
	if err != nil {
		return nil, err
	}
	if fi, err := os.Stat(path); err != nil {
		return nil, err
	} else if fi.Mode()&0o077 != 0 {
		return nil, &ExposedError{path}
	}
	raw, err := ssh.ParseRawPrivateKey(b)
	if err != nil {
		return nil, err
	}
	key, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not of the kind ed25519")
	}
	return *key, nil
}

// Unable says why commits that land can't be attested as evidence.sign wants it, as far as that
// is seen without signing anything; nil where they can.
func (o *Options) Unable(ctx context.Context) error {
	switch o.Sign {
	case Off:
		return nil
	case BySSH:
		own, public, err := o.sshKey(ctx)
		if err == nil && own == nil {
			err = agentHas(o.agent(), public)
		}
		if err != nil {
			return &KeyError{Err: err}
		}
		return nil
	}
	if _, err := os.Lstat(filepath.Join(Dir(o.StateDir), "key")); errors.Is(err, fs.ErrNotExist) {
		return nil // it is made when it is first needed
	}
	_, err := ownKey(Dir(o.StateDir))
	return err
}

// sshKey is the key that git is configured to sign with, a file or the key itself: own where
// a file has it without a passphrase, else public, which the agent may have.
func (o *Options) sshKey(ctx context.Context) (own ed25519.PrivateKey, public ssh.PublicKey, err error) {
	if format, err := o.setting(ctx, "gpg.format"); err != nil || format != "ssh" {
		return nil, nil, errors.New("git does not sign with SSH keys here: gpg.format is not ssh")
	}
	where, err := o.setting(ctx, "user.signingkey")
	if err != nil || where == "" {
		return nil, nil, errors.New("git's user.signingkey names no key")
	}
	literal, ok := strings.CutPrefix(where, "key::")
	if !ok && strings.HasPrefix(where, "ssh-") {
		literal, ok = where, true
	}
	if !ok {
		if rest, below := strings.CutPrefix(where, "~/"); below {
			where = filepath.Join(o.Home, rest)
		}
		switch key, err := private(strings.TrimSuffix(where, ".pub")); {
		case err == nil:
			return key, nil, nil
		case errors.As(err, new(*ExposedError)):
			return nil, nil, fmt.Errorf("git's user.signingkey, %s, can't be used: %w", strings.TrimSuffix(where, ".pub"), err)
		}
		b, err := beneath.ReadPlain(strings.TrimSuffix(where, ".pub")+".pub", maxKey)
		if err != nil {
			return nil, nil, fmt.Errorf("git's user.signingkey: %w", err)
		}
		literal = string(b)
	}
	public, _, _, _, err = ssh.ParseAuthorizedKey([]byte(literal))
	if err != nil || public.Type() != keyType {
		return nil, nil, errors.New("git's user.signingkey is not an ed25519 key")
	}
	return nil, public, nil
}

// signSSH signs with that key. No program is started.
func (o *Options) signSSH(ctx context.Context, data []byte) (key ed25519.PublicKey, sig []byte, err error) {
	own, public, err := o.sshKey(ctx)
	if err != nil {
		return nil, nil, err
	}
	if own != nil {
		return own.Public().(ed25519.PublicKey), ed25519.Sign(own, data), nil
	}
	err = withAgent(o.agent(), func(a agent.Agent) error {
		made, err := a.Sign(public, data)
		if err != nil {
			return fmt.Errorf("the SSH agent does not sign: %w", err)
		}
		sig = made.Blob
		return nil
	})
	return public.(ssh.CryptoPublicKey).CryptoPublicKey().(ed25519.PublicKey), sig, err
}

// agent is the socket of the operator's SSH agent, "" where there is none.
func (o *Options) agent() (socket string) {
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, "SSH_AUTH_SOCK="); ok {
			socket = v
		}
	}
	return socket
}

func withAgent(socket string, ask func(agent.Agent) error) error {
	if socket == "" {
		return errors.New("the key has a passphrase, or no file, and there is no SSH agent")
	}
	conn, err := net.DialTimeout("unix", socket, agentPatience)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(agentPatience)); err != nil {
		return err
	}
	return ask(agent.NewClient(conn))
}

// agentHas looks for a key without having it sign, which could ask a person.
func agentHas(socket string, public ssh.PublicKey) error {
	return withAgent(socket, func(a agent.Agent) error {
		keys, err := a.List()
		if err == nil && !slices.ContainsFunc(keys, func(k *agent.Key) bool { return bytes.Equal(k.Blob, public.Marshal()) }) {
			err = errors.New("the key has a passphrase, or no file, and the SSH agent does not have it")
		}
		return err
	})
}

func (o *Options) setting(ctx context.Context, name string) (string, error) {
	out, err := o.Git.Run(ctx, nil, "config", "--get", name)
	if fail, ok := errors.AsType[*git.Error](err); ok && fail.Exit == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
