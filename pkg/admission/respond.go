// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/finding"
)

const (
	// maxText bounds the errors of one answer, in bytes: a person reads the first few; capkit lint lists the rest.
	maxText = 64 << 10
	// maxErrorText bounds one error. Only what no API server sends has names or values of such a size.
	maxErrorText = 8 << 10
	// The API server cuts each warning at 256 characters once all together have more than 4096.
	maxWarningText = 4096
)

// deny turns what is wrong with an object into the error of an admission response: status 422 with a cause for each
// error, as the API server itself answers; nil if nothing is wrong.
func deny(kind schema.GroupVersionKind, name string, errs field.ErrorList) *apierrors.StatusError {
	if len(errs) == 0 {
		return nil
	}
	errs, omitted := mostUseful(shortened(errs), maxText)
	invalid := apierrors.NewInvalid(kind.GroupKind(), cut(name, maxErrorText), errs)
	if omitted > 0 {
		more := fmt.Sprintf("%d more errors; capkit lint lists all", omitted)
		invalid.ErrStatus.Message += ": and " + more
		cause := invalid.ErrStatus.Details.Causes[len(errs)-1]
		cause.Field, cause.Message = "", "and "+more
		invalid.ErrStatus.Details.Causes = append(invalid.ErrStatus.Details.Causes, cause)
	}
	return invalid
}

// shortened returns the errors without any that is extremely long.
func shortened(errs field.ErrorList) field.ErrorList {
	short := make(field.ErrorList, 0, len(errs))
	for _, err := range errs {
		if len(err.Field)+len(err.Detail) > maxErrorText || len(err.ErrorBody()) > maxErrorText {
			clone := *err
			clone.Field, clone.Detail = cut(err.Field, maxErrorText/4), cut(err.Detail, maxErrorText/4)
			if _, omitted := err.BadValue.(field.OmitValueType); !omitted {
				clone.BadValue = cut(fmt.Sprint(err.BadValue), maxErrorText/4)
			}
			err = &clone
		}
		short = append(short, err)
	}
	return short
}

// mostUseful returns the errors that fit into a number of bytes, at least one, and the number of those that do not. If
// all fit they keep their order; otherwise the first of each rule comes before the second of any.
func mostUseful(errs field.ErrorList, limit int) (field.ErrorList, int) {
	size := 0
	for _, err := range errs {
		size += len(err.Error())
	}
	if size <= limit {
		return errs, 0
	}
	ranks, ofRule := map[*field.Error]int{}, map[string]int{}
	for _, err := range errs {
		ranks[err] = ofRule[err.Origin]
		ofRule[err.Origin]++
	}
	ordered := slices.Clone(errs)
	slices.SortStableFunc(ordered, func(a, b *field.Error) int { return cmp.Compare(ranks[a], ranks[b]) })
	var useful field.ErrorList
	for _, err := range ordered {
		if limit -= len(err.Error()); limit < 0 && len(useful) > 0 {
			break
		}
		useful = append(useful, err)
	}
	return useful, len(errs) - len(useful)
}

// warn turns findings into warnings that the API server passes on uncut, the most useful first if they have to be cut.
// The last one then says how many there are.
func warn(findings field.ErrorList) []string {
	if len(findings) == 0 {
		return nil
	}
	const last = 80 // characters for the last one
	useful, omitted := mostUseful(findings, maxWarningText-last)
	warnings := make([]string, 0, len(useful)+1)
	for _, finding := range useful {
		warnings = append(warnings, cut(finding.Field+": "+finding.Detail, maxWarningText-last))
	}
	if omitted > 0 {
		warnings = append(warnings, fmt.Sprintf("and %d more warnings; capkit lint lists all", omitted))
	}
	return warnings
}

// cut shortens a text to a number of bytes, without breaking a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	for limit = max(0, limit-len(mark)); limit > 0 && !utf8.RuneStart(text[limit]); {
		limit--
	}
	return text[:limit] + mark
}

// answer turns what a check found into a response.
func answer(kind schema.GroupVersionKind, name string, report finding.Report) admission.Response {
	response := admission.Allowed("")
	if err := deny(kind, name, report.Errors.Errors()); err != nil {
		response = refused(err)
	}
	return response.WithWarnings(warn(report.Warnings.Errors())...)
}

// failed answers that it is not the object's fault: status 500, after which clients may try again. It logs why, unless
// that might quote the object.
func failed(ctx context.Context, err error) admission.Response {
	logged := err
	if errors.As(err, new(undecodable)) {
		logged = errors.New("the request could not be decoded")
	}
	logf.FromContext(ctx).Error(logged, "Not judged")
	return refused(apierrors.NewInternalError(errors.New(cut(err.Error(), maxErrorText))))
}

// unusable answers that a request is not one that an API server sends: status 400.
func unusable(reason string) admission.Response {
	return refused(apierrors.NewBadRequest(cut(reason, maxErrorText)))
}

func refused(err *apierrors.StatusError) admission.Response {
	status := err.Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
}
