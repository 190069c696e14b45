package clitool

import (
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/paxiom/relay/sdk"
)

// Object says that a line is a JSON object as a whole. A program that prints events may
// print other lines too, which mean nothing; an object that does not read as one of its
// events means that its events are others than those of a known version.
func Object(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && utf8.Valid(line) && json.Valid(line)
}

// Unmarshal reads one line of a program's output. Bytes that are not UTF-8 are an error:
// encoding/json would put other characters in their place, and those the program never said.
func Unmarshal(line []byte, v any) error {
	if !utf8.Valid(line) {
		return errors.New("the line is not valid UTF-8")
	}
	return json.Unmarshal(line, v)
}

// UnknownShape is the failure of a run of which it can't be said how it went, since the
// program printed something that no known version prints. It is the program's, not the
// model's: asking again is no use, and what is there is not made the best of.
func UnknownShape(program, line string) *sdk.Failure {
	return sdk.Fail(sdk.Internal, program+" printed a result of a shape that this plugin does not know",
		sdk.Detail(line), sdk.Fix("`"+program+" --version`; use a version that the plugin names as tested"))
}
