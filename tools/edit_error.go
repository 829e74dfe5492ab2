package tools

import (
	"errors"
	"fmt"

	"github.com/workspacekit/workspacekit/tools/internal/edit"
)

// explainEdit adds to an error of the edit engine what the model can do about
// it. several says that the edits came as a list, so that one is named by its
// place.
func explainEdit(err error, several bool) error {
	var invalid *edit.InvalidError
	var overlap *edit.OverlapError
	var tooMany *edit.TooManyError
	var notFound *edit.NotFoundError
	var notUnique *edit.NotUniqueError
	switch {
	case errors.As(err, &invalid):
		return &argumentError{message: which(invalid.Edit, several) + invalid.Reason, hint: invalidHint}
	case errors.As(err, &overlap):
		return &argumentError{message: overlap.Error(), hint: "Join edits that touch the same text into one. Nothing was written."}
	case errors.As(err, &tooMany):
		return &argumentError{message: which(tooMany.Edit, several) + tooMany.Error(), hint: "Give a longer oldText that occurs less often."}
	case errors.As(err, &notFound):
		return &hintedError{err, which(notFound.Edit, several) + notFoundHint(notFound.Nearest)}
	case errors.As(err, &notUnique):
		return &hintedError{err, which(notUnique.Edit, several) +
			"Add lines around oldText until it occurs once, or set replaceAll. Nothing was written."}
	}
	return err
}

const invalidHint = `oldText is the text that is in the file, and newText the one to put in its place; newText may be "".`

func which(i int, several bool) string {
	if !several {
		return ""
	}
	return fmt.Sprintf("edits[%d]: ", i)
}

func notFoundHint(near *edit.Nearest) string {
	const again = "Read the file again and copy the text as it is. Nothing was written."
	if near == nil {
		return "Nothing in the file is like oldText. " + again
	}
	differs := ""
	if near.Differs != "" {
		differs = ", which differs in " + near.Differs
	}
	return fmt.Sprintf("The nearest text is on line %d%s:\n%s\nCopy the text as it is in the file. Nothing was written.", near.Line, differs, near.Text)
}
