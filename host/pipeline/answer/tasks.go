package answer

import (
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/schemas"
)

// tasks is what a model answers that makes a task list.
type tasks struct {
	Tasks []struct {
		ID          string      `json:"id"`
		Title       string      `json:"title"`
		Description string      `json:"description"`
		Priority    int         `json:"priority"`
		DependsOn   []string    `json:"depends_on"`
		Criteria    []string    `json:"acceptance_criteria"`
		Validation  prd.Command `json:"validation_command"`
		ChecksFirst []string    `json:"checks_first"`
	} `json:"tasks"`
}

// ReadTasks reads the answer of a model that was asked for a task list.
func ReadTasks(text []byte) ([]prd.Proposal, error) {
	t, err := read[tasks](schemas.PipelineTasks, text)
	if err != nil {
		return nil, err
	}
	var out []prd.Proposal
	for _, p := range t.Tasks {
		if len(p.Validation) == 0 {
			p.Validation = nil // which a list shows as null
		}
		out = append(out, prd.Proposal{ChecksFirst: p.ChecksFirst, Task: prd.Task{ID: p.ID, Title: p.Title, Description: p.Description,
			Priority: p.Priority, DependsOn: p.DependsOn, AcceptanceCriteria: p.Criteria, Validation: prd.Validation{Command: p.Validation}}})
	}
	return out, nil
}
