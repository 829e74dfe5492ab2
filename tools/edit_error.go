package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// explainEdit adds to an error of the edit engine what the model can do about it.
// several says that the edits came as a list, so that one is named by its place.
//
// An error that has nothing to do with editing comes back as it is. Mistakes in the arguments
// lose the name of the file, as they would be the same in every file. Of several errors, the
// hint of each is cut to its part, which is at least 100 characters.
func explainEdit(err error, several bool) error {
	if err := explainCharacter(err, ""); err != nil {
		return err
	}
	failed := edit.Errors{err}
	errors.As(err, &failed)
	hints, arguments := make([]string, len(failed)), false
	for i, one := range failed {
		hint, ofArguments := editHint(one)
		if hint == "" {
			return err
		}
		arguments = arguments || ofArguments
		hints[i] = clip(which(edit.Index(one), several)+hint, max(errorChars/len(failed)-30, 100))
	}
	hint := strings.Join(hints, "\n")
	if !arguments {
		return &hintedError{err, hint}
	}
	var inFile *fs.PathError
	if errors.As(err, &inFile) { // what is wrong has nothing to do with the file
		err = inFile.Err
	}
	if len(failed) > 1 {
		return &argumentError{message: err.Error(), hint: hint} // which names all
	}
	if errors.As(err, new(*edit.OverlapError)) {
		several = false // it names both
	}
	hint, _ = editHint(err)
	return &argumentError{message: which(edit.Index(err), several) + err.Error(), hint: hint}
}

// editHint says what to do about one error of the edit engine, and whether it is the
// arguments that are wrong, whatever the file holds. It returns "" for other errors.
func editHint(err error) (hint string, arguments bool) {
	var invalid *edit.InvalidError
	var line *edit.LineError
	var overlap *edit.OverlapError
	var tooMany *edit.TooManyError
	var pattern *edit.PatternError
	var notFound *edit.NotFoundError
	var notUnique *edit.NotUniqueError
	switch {
	case errors.As(err, &invalid):
		return invalid.Hint, true
	case errors.Is(err, edit.ErrRegexpSource):
		return "Leave regexp out, and give the text as it is in the file.", false
	case errors.As(err, &line):
		return "insertLine counts the lines as they are before the call.", true
	case errors.As(err, &overlap):
		return "Join edits that touch the same text into one. Nothing was written.", true
	case errors.As(err, &tooMany):
		return "Give a longer text that occurs less often.", true
	case errors.As(err, &pattern) && pattern.Costly:
		return "Use a simpler regular expression, or several edits, or leave regexp out.", false
	case errors.As(err, &pattern):
		return `It is RE2. Escape what is meant literally, such as \(, or leave regexp out.`, false
	case errors.As(err, &notFound) && notFound.Regexp:
		return "The regular expression matches nothing in the file. Correct it, or leave regexp out and copy the text as it is. Nothing was written.", false
	case errors.As(err, &notFound) && notFound.Indent:
		return "But for indentation, oldText occurs, and newText cannot be indented as the file is: indent it as oldText is. " + notFoundHint(notFound.Nearest), false
	case errors.As(err, &notFound):
		return notFoundHint(notFound.Nearest), false
	case errors.As(err, &notUnique) && notUnique.Want != 0:
		return "Correct expectedCount or oldText. Nothing was written.", false
	case errors.As(err, &notUnique):
		return "Add lines around oldText until it occurs once, or set replaceAll. Nothing was written.", false
	}
	return "", false
}

// which says which of several edits an error is about, before its message.
func which(i int, several bool) string {
	if !several {
		return ""
	}
	return fmt.Sprintf("edits[%d]: ", i)
}

// notFoundHint shows the text of the file that is most like the one that does not occur. The
// model can copy it from there without another read.
func notFoundHint(near *edit.Nearest) string {
	switch {
	case near == nil:
		return "Nothing in the file is like the text. Read the file again and copy the text as it is. Nothing was written."
	case near.Differs == "":
		return fmt.Sprintf("The nearest text is on line %d:\n%s\nCopy the text as it is in the file. Nothing was written.", near.Line, near.Text)
	}
	return fmt.Sprintf("The nearest text is on line %d, which differs in %s:\n%s\nCopy the text as it is in the file. Nothing was written.", near.Line, near.Differs, near.Text)
}
