package program

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kind is how a variable names the files that code is taken from.
type kind int

const (
	loader  kind = iota + 1 // files and folders, read by the loader or a library in every program
	folders                 // files and folders, read by one language or tool
	options                 // options of an interpreter, which may name files
	command                 // a command, whose program is looked up
)

// sources are the variables by which a program takes code from files that the command
// which starts it does not name; a name that ends in "*" stands for all that begin so.
// Where git's own configuration comes from is not among them: no task can change a file
// of the work tree that git reads settings from.
var sources = table(map[kind]string{
	loader: `LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GCONV_PATH OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES
		DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH DYLD_FALLBACK_FRAMEWORK_PATH`,
	folders: `BASH_ENV ENV ZDOTDIR LOCPATH GIO_EXTRA_MODULES GTK_PATH QT_PLUGIN_PATH
		PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONPYCACHEPREFIX VIRTUAL_ENV
		PERL5LIB PERLLIB RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH NODE_PATH NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG NPM_CONFIG_SCRIPT_SHELL npm_config_userconfig npm_config_globalconfig npm_config_script_shell
		LUA_PATH* LUA_CPATH* CLASSPATH JAVA_HOME R_LIBS* R_PROFILE* R_ENVIRON* JULIA_LOAD_PATH JULIA_DEPOT_PATH GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH
		TCLLIBPATH ERL_LIBS PHPRC PHP_INI_SCAN_DIR DOTNET_STARTUP_HOOKS DOTNET_ROOT CORECLR_PROFILER_PATH* MAKEFILES
		GIT_EXEC_PATH GIT_TEMPLATE_DIR GNUPGHOME PASSWORD_STORE_EXTENSIONS_DIR AWS_CONFIG_FILE KUBECONFIG DOCKER_CONFIG CLOUDSDK_CONFIG CLOUDSDK_PYTHON CURL_HOME WGETRC LESSKEY*`,
	options: `PERL5OPT PERL_USE_UNSAFE_INC RUBYOPT NODE_OPTIONS NPM_CONFIG_NODE_OPTIONS npm_config_node_options BUN_OPTIONS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS PHP_INI_* GOFLAGS MAKEFLAGS`,
	command: `PERL5DB LUA_INIT* EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS
		GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_PROXY_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF`,
})

func table(names map[kind]string) map[string]kind {
	t := map[string]kind{"PATH": loader}
	for k, list := range names {
		for name := range strings.FieldsSeq(list) {
			t[name] = k
		}
	}
	return t
}

func kindOf(name string) kind {
	if k, ok := sources[name]; ok {
		return k
	}
	for at := len(name); at > 0; at-- {
		if k, ok := sources[name[:at]+"*"]; ok {
			return k
		}
	}
	return 0
}

// Environ is an environment for what is started on the host: no variable leads a program
// to code that is named relative to a folder or lies in one of the trees. The table can't
// have every program's variables, so one of any other name that leads into a tree is left out.
func Environ(environ []string, trees ...string) []string { return clean(environ, command, trees) }

// Boxed is the same for what is started in a box, where the work tree is what tools of a
// language are to find: only PATH and what the loader looks at are cleaned.
func Boxed(environ []string, trees ...string) []string { return clean(environ, loader, trees) }

func clean(environ []string, upTo kind, trees []string) []string {
	trees = resolved(trees)
	dir, _ := os.Getwd()
	out := make([]string, 0, len(environ))
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		k := kindOf(name)
		switch {
		case k == 0 && upTo == command && !settles(name) && leads(value, trees):
			continue
		case k == 0 || k > upTo:
		case name == "PATH":
			kv = "PATH=" + Clean(value, trees...)
		case k == options:
			if !harmless(value, trees) {
				continue
			}
		case k == command:
			if value = strings.TrimLeft(value, "|- "); relative(value) || Named([]string{"", value}, dir, trees...) != "" {
				continue
			}
		default:
			if value = listed(name, value, trees); value == "" {
				continue
			}
			kv = name + "=" + value
		}
		out = append(out, kv)
	}
	return out
}

// settles reports whether a variable says where things are done, and not what is run there.
// Git's own are in the table, or looked at where git is started.
func settles(name string) bool {
	return strings.HasPrefix(name, "GIT_") || slices.Contains([]string{"PWD", "OLDPWD", "HOME", "TMPDIR", "TMP", "TEMP"}, name)
}

// leads reports whether a value names a tree or something in it, as a path, in a list or
// in a sentence.
func leads(value string, trees []string) bool {
	return strings.Contains(value, "/") && slices.ContainsFunc(append(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n:;,=\"'", r) }), value), func(part string) bool {
		if !strings.HasPrefix(part, "/") {
			return false
		}
		for at := filepath.Clean(part); ; at = filepath.Dir(at) { // what is not there yet is where it would be
			if below(at, trees) {
				return true
			}
			if real, err := filepath.EvalSymlinks(at); err == nil {
				return below(real, trees)
			}
			if at == filepath.Dir(at) {
				return false
			}
		}
	})
}

// listed keeps of a list of files and folders what [Clean] keeps. Shells put something
// else in the place of what has a dollar or a backquote in it.
func listed(name, value string, trees []string) string {
	spaces := name == "LD_PRELOAD" || name == "MAKEFILES" || name == "TCLLIBPATH"
	parts := strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ';' || r == ' ' && spaces })
	parts = slices.DeleteFunc(parts, func(part string) bool { return strings.ContainsAny(part, "$`") })
	value = Clean(strings.Join(parts, ":"), trees...)
	if strings.HasPrefix(name, "LUA_") || name == "MAKEFILES" || name == "TCLLIBPATH" {
		value = strings.ReplaceAll(value, ":", map[bool]string{true: " ", false: ";"}[spaces])
	}
	return value
}

var (
	// plain is an option that names no file and no module.
	plain = regexp.MustCompile(`^(--[a-z-]+(=[0-9]+)?|-[wW][0-9]?|-X[a-z]+[0-9]+[kmgKMG]?)$`)
	// before is what may stand before an absolute path in an option.
	before = regexp.MustCompile(`^(-[Ir]|--[a-z-]+=|-[a-z]+:)?$`)
)

// harmless reports whether options name nothing but what lies outside of the trees. One
// that can't be told is not: an interpreter works without the options of another program.
func harmless(value string, trees []string) bool {
	for word := range strings.FieldsSeq(value) {
		switch at := strings.IndexByte(word, '/'); {
		case at >= 0 && before.MatchString(word[:at]) && Clean(word[at:], trees...) == word[at:]:
		case strings.Contains(word, "config") || !plain.MatchString(word):
			return false
		}
	}
	return true
}

// relative reports whether a command's program is looked for below the current folder.
func relative(command string) bool {
	first, _, _ := strings.Cut(command, " ")
	return strings.Contains(first, "/") && !strings.HasPrefix(first, "/")
}
