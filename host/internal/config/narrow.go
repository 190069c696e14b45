package config

import (
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
)

// narrowing is how a repository's value is bounded by the user's own.
type narrowing uint8

const (
	undecided narrowing = iota
	harmless            // what a repository says holds: it can't widen anything, or what it names is asked about itself
	consent             // what a repository says holds once a person has agreed to it
	atMost              // a number: the smaller one holds, 0 being no limit
	fewest              // a number or a time: the smaller one holds, 0 being the smallest
	closed              // whether something is open: no holds
	kept                // whether something is looked at: yes holds
	union               // a list: what either has
	common              // globs: what both have
	commits             // the stricter one holds
	dirty               // worktree.dirty: the stricter one holds
	users               // the user's, when there is one
	subset              // a list: nothing that the user's does not have
	notWeak             // box.required: the stronger one holds
	owners              // a repository can't have it at all
	notOpen             // box.network: the closer one holds
	within              // a list: the user's, when there is one and it does not have all
)

// decisions are the one table of what a repository's value of a key may do. A repository
// narrows, and never widens what the user has said himself; where he has said nothing, what
// is looser than relay's own value needs his yes (see Grants). A key that is in none of
// these lists needs it whatever its value, and is refused by a test.
var decisions = map[narrowing]string{
	harmless: `
		$schema version runner.require_git runner.lockfile runner.crash_cleanup.delete_tmp_glob runner.render_report_md.enabled
		runner.render_report_md.max_chars claude_code_cli.output_format claude_code_cli.no_session_persistence orchestrator.permission_mode
		orchestrator.allowed_tools orchestrator.system_prompt_file orchestrator.user_prompt_file orchestrator.task_schema_file budgets.per_provider
		providers history.dir builder.claude_code.system_prompt_file builder.claude_code.user_prompt_file
		builder.claude_code.builder_result_schema_file verification.execution_mode verification.reject_whitespace_in_params
		verification.reject_dotdot notify.desktop notify.bell
	`,
	consent: `
		product_name workspace_dir models.orchestrator_model models.orchestrator_fallback_model models.builder_model models.builder_fallback_model
		orchestrator.provider fallback.orchestrator fallback.builder builder.default_mode builder.external.args builder.external.output_file
		builder.cursor.args builder.cursor.output_file plugins plugins.* plugins.*.secret plugins.*.keys plugins.*.keys.* verification.templates
		verification.templates[].id verification.templates[].cmd verification.templates[].args verification.templates[].results
		verification.templates[].dir verification.templates[].env verification.templates[].timeout_seconds verification.templates[].params
		verification.templates[].params.*.kind verification.hidden verification.hidden[].id verification.hidden[].cmd verification.hidden[].args
		verification.hidden[].folder verification.hidden[].repository verification.hidden[].on_request verification.hidden[].class
		pipeline.plan.provider pipeline.plan.model pipeline.plan.fallback pipeline.code.builder pipeline.code.model pipeline.code.fallback
		pipeline.review.provider pipeline.review.model pipeline.review.fallback pipeline.cleanup.builder pipeline.cleanup.model
		pipeline.cleanup.fallback pipeline.criteria.provider pipeline.criteria.model pipeline.criteria.fallback pipeline.push.remote
		pipeline.push.branch pipeline.on_limit
	`,
	atMost: `
		runner.max_tick_seconds runner.stuck_after orchestrator.max_turns orchestrator.max_budget_usd
		orchestrator.timeout_seconds orchestrator.idle_timeout_seconds budgets.per_milestone.max_ticks budgets.per_milestone.max_orchestrator_calls
		budgets.per_milestone.max_builder_calls budgets.per_milestone.max_verify_runs budgets.per_milestone.max_estimated_cost_usd
		budgets.per_run.max_cost_usd budgets.per_run.max_calls budgets.per_run.max_tokens budgets.per_cycle.max_cost_usd budgets.per_cycle.max_calls
		budgets.per_cycle.max_tokens budgets.per_day.max_cost_usd budgets.per_day.max_calls budgets.per_day.max_tokens budgets.per_provider.*.max_cost_usd
		budgets.per_provider.*.max_calls budgets.per_provider.*.max_tokens providers.*.calls_per_minute providers.*.burst builder.timeout_seconds
		builder.idle_timeout_seconds builder.claude_code.max_turns builder.claude_code.max_budget_usd builder.patch.max_patch_attempts_per_milestone
		builder.external.timeout_seconds builder.cursor.timeout_seconds box.limits.processes box.limits.memory_mb box.limits.cpus box.limits.cpu_seconds
		box.limits.open_files box.limits.file_mb box.limits.disk_mb box.limits.output_mb scope.ceiling.max_files_touched scope.ceiling.max_lines_changed
		diff_limits.default_max_files_touched diff_limits.default_max_lines_changed verification.max_param_len verification.timeout_fast_seconds
		verification.timeout_slow_seconds cycles.max_worktrees cycles.worktrees_max_mb pipeline.code.session_minutes pipeline.cleanup.session_minutes
		pipeline.max_review_rounds pipeline.call_timeout_seconds pipeline.max_call_usd pipeline.max_session_usd
		pipeline.max_task_usd pipeline.max_run_usd
		pipeline.scope.max_files_touched pipeline.scope.max_lines_changed budgets.warn_at_fraction budgets.alert_at_fraction history.max_mb
		verification.mutation_seconds
	`,
	fewest: `
		limits.max_wait orchestrator.max_parse_retries_per_tick pipeline.max_resume_attempts
	`,
	closed: `
		builder.allow_patch_mode scope.default_allow_new_files scope.default_allow_lockfile_changes scope.ceiling.allow_new_files
		scope.ceiling.allow_lockfile_changes verification.baseline pipeline.scope.allow_new_files pipeline.scope.allow_lockfile_changes
	`,
	kept: `
		runner.crash_cleanup.validate_runner_json_files builder.claude_code.strict_builder_json history.enabled history.include_diff_patch
		history.include_verify_log verification.mutation
	`,
	union: `
		box.hide runner.runner_owned_globs scope.default_forbidden_globs scope.lockfiles verification.protected_globs verification.test_globs verification.required
	`,
	common: `
		scope.default_allowed_globs scope.ceiling.allowed_globs pipeline.scope.allowed_globs scope.scratch_globs
	`,
	commits: `
		commit.builder_commits
	`,
	dirty: `
		worktree.dirty
	`,
	users: `
		claude_code_cli.command budgets.shared builder.claude_code.permission_mode builder.claude_code.allowed_tools builder.external.command
		builder.cursor.command commit.on_success box.means verification.reject_metachars_regex notify.command
	`,
	subset: `
		box.persist_dirs
	`,
	notWeak: `
		box.required
	`,
	owners: `
		box.show verification.caches notify.ntfy notify.slack notify.telegram notify.webhook env_file budgets.prices_file providers.*.account telemetry.traces telemetry.endpoint evidence.sign
	`,
	notOpen: `
		box.network.builder box.network.provider box.network.verification
	`,
	within: `
		box.network.hosts
	`,
}

// holds are the keys whose built-in value holds beside whatever is written.
var holds = map[string]bool{"runner.runner_owned_globs": true}

// instead are the keys that a key of the ceiling stands for where it is absent: what the
// user says there bounds it as well.
var instead = map[string]string{
	"scope.ceiling.allowed_globs":          "scope.default_allowed_globs",
	"scope.ceiling.allow_lockfile_changes": "scope.default_allow_lockfile_changes",
	"scope.ceiling.max_files_touched":      "diff_limits.default_max_files_touched",
	"scope.ceiling.max_lines_changed":      "diff_limits.default_max_lines_changed",
}

// leading is how much of a builder's commits is taken over.
var leading = map[string]int{"stop": 0, "squash": 1, "keep": 2}

// decided is the table of decisions by key.
func decided() map[string]narrowing {
	all := map[string]narrowing{}
	for how, paths := range decisions {
		for _, path := range strings.Fields(paths) {
			all[path] = how
		}
	}
	return all
}

// saysOf is what a layer says of a key, or of the one that it stands for.
func saysOf(layer *node, path []string) *node {
	if n := layer.lookup(path...); n != nil {
		return n
	}
	if other := instead[strings.Join(path, ".")]; other != "" {
		return layer.lookup(strings.Split(other, ".")...)
	}
	return nil
}

// strength orders the means of containment; "" is none.
var strength = map[string]int{"": 0, "copy": 1, "landlock": 2, "overlay": 3}

// begins orders when work begins in a work tree with changes.
var begins = map[string]int{"block": 0, "auto": 1, "allow": 2}

// openness orders what a box may reach.
var openness = map[string]int{"none": 0, "auto": 1, "hosts": 1, "needed": 1, "full": 2}

// narrow gives the repository's layer without what the user's own configuration
// does not let it have. What is merely looser than the user's gives way with a
// notice; a right that was never given is refused.
func (l *Loaded) narrow(user, repo *node) (*node, error) {
	out := repo // what is changed of it is made anew
	for _, k := range table {
		if k.narrow == undecided || k.narrow == harmless || k.narrow == consent {
			continue
		}
		for _, path := range repo.paths(strings.Split(k.path, ".")) {
			asked, own := repo.lookup(path...), saysOf(user, path)
			if k.narrow == owners {
				return nil, l.notGiven(asked, problem{asked.at, k.path, "only your own configuration, the environment or --set can have this"})
			}
			if k.narrow == subset {
				if err := l.subset(asked, own, k); err != nil {
					return nil, err
				}
				continue
			}
			if own == nil || !looser(k.narrow, asked, own) {
				continue
			}
			out = withoutLeaf(out, path)
			if both := joined(k.narrow, asked, own); both != nil {
				out.set(both, path...)
				note := strings.Join(path, ".") + map[narrowing]string{union: " has what " + own.at.File + " says as well", common: " is only what " + own.at.File + " allows as well"}[k.narrow]
				both.at.Note = note
				l.Notices = append(l.Notices, note)
				continue
			}
			note := strings.Join(path, ".") + " stays " + own.describe() + " as in " + own.at.File + "; " + asked.at.File + " asked for " + asked.describe()
			own.at.Note = note
			l.Notices = append(l.Notices, note)
		}
	}
	return l.narrowPlugins(user, out), nil
}

// paths are the places in n that a key's path means: "*" stands for every name there.
func (n *node) paths(path []string) [][]string {
	for i, name := range path {
		if name != "*" {
			continue
		}
		var all [][]string
		for _, name := range sortedKeys(n.lookup(path[:i]...).fieldsOrNil()) {
			all = append(all, n.paths(slices.Replace(slices.Clone(path), i, i+1, name))...)
		}
		return all
	}
	if n.lookup(path...) == nil {
		return nil
	}
	return [][]string{path}
}

func looser(how narrowing, asked, own *node) bool {
	switch how {
	case users:
		return !equalPlain(asked, own)
	case notWeak:
		a := asked.text()
		o := own.text()
		return strength[a] < strength[o]
	case notOpen:
		a := asked.text()
		o := own.text()
		return openness[a] > openness[o] || o == "auto" && a != "none"
	case within:
		return len(beyond(asked, own)) > 0
	case closed:
		return asked.v == true && own.v == false
	case kept:
		return asked.v == false && own.v == true
	case commits:
		return leading[asked.text()] > leading[own.text()]
	case union:
		return slices.ContainsFunc(beyond(own, asked), func(n *node) bool { return !judge.Covers(asked.texts(), n.text()) })
	case common:
		return slices.ContainsFunc(asked.texts(), func(g string) bool { return !judge.Covers(own.texts(), g) })
	case dirty:
		return begins[asked.text()] > begins[own.text()]
	case fewest:
		return asked.amount() > own.amount()
	default: // atMost; 0 is no limit
		a, o := asked.amount(), own.amount()
		return o != 0 && (a == 0 || a > o)
	}
}

// amount is a number, or a time in seconds.
func (n *node) amount() float64 {
	if d, err := time.ParseDuration(n.text()); err == nil {
		return d.Seconds()
	}
	f, _ := n.number()
	return f
}

// joined is the list that holds where two meet, nil for other values: of globs those that the
// other's cover, which is never more than both allow.
func joined(how narrowing, asked, own *node) *node {
	var all []*node
	switch how {
	case union:
		list, _ := asked.list()
		all = append(slices.Clone(list), beyond(own, asked)...)
	case common:
		for _, pair := range [][2]*node{{asked, own}, {own, asked}} {
			list, _ := pair[0].list()
			for _, g := range list {
				if judge.Covers(pair[1].texts(), g.text()) && !slices.ContainsFunc(all, func(n *node) bool { return n.v == g.v }) {
					all = append(all, g)
				}
			}
		}
	default:
		return nil
	}
	if all == nil {
		all = []*node{}
	}
	return &node{v: all, at: asked.at}
}

// texts are the texts of a list.
func (n *node) texts() (all []string) {
	list, _ := n.list()
	for _, x := range list {
		all = append(all, x.text())
	}
	return all
}

// beyond gives what is in the list asked and not in own.
func beyond(asked, own *node) (more []*node) {
	have := map[any]bool{}
	if list, ok := own.list(); ok {
		for _, x := range list {
			have[x.v] = true
		}
	}
	list, _ := asked.list()
	for _, x := range list {
		if !have[x.v] {
			more = append(more, x)
		}
	}
	return more
}

func (l *Loaded) subset(asked, own *node, k *key) error {
	if more := beyond(asked, own); len(more) > 0 {
		x := more[0]
		return l.notGiven(x, problem{x.at, k.path, x.describe() + " is not in your own configuration, and only that can give it"})
	}
	return nil
}

func (l *Loaded) notGiven(n *node, p problem) error {
	return fault.New(judge.BlockedUntrustedConfig, source(n.at)+" asks for more than a repository may have", p.String(),
		"`${EDITOR:-vi} ~/.config/relay/config.json` to give it to every repository that you trust, or take it out of "+source(n.at))
}

// ofUser are the settings of a plugin that a repository can't take from the user:
// what is run, and where prompts and keys are sent.
var ofUser = map[string]bool{"command": true, "args": true, "path": true, "env": true, "base_url": true, "keys": true, "secret": true, "transport": true}

func (l *Loaded) narrowPlugins(user, repo *node) *node {
	for _, name := range sortedKeys(repo.lookup("plugins").fieldsOrNil()) {
		for key := range ofUser {
			asked, own := repo.lookup("plugins", name, key), user.lookup("plugins", name, key)
			if asked == nil || own == nil || equalPlain(asked, own) {
				continue
			}
			repo = withoutLeaf(repo, []string{"plugins", name, key})
			note := "plugins." + name + "." + key + " stays as in " + own.at.File
			own.at.Note = note
			l.Notices = append(l.Notices, note)
		}
	}
	return repo
}

// withoutLeaf gives a copy of n without the value at path.
func withoutLeaf(n *node, path []string) *node {
	out := &node{v: map[string]*node{}, at: n.at}
	for _, k := range n.order {
		c := n.fields()[k]
		switch {
		case k == path[0] && len(path) == 1:
		case k == path[0]:
			out.put(k, withoutLeaf(c, path[1:]))
		default:
			out.put(k, c)
		}
	}
	return out
}
