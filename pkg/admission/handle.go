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
	"time"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// object is a pointer to T, the object of a webhook.
type object[T any] interface {
	*T
	client.Object
}

// older decodes the stored object, and returns nil on creation. An error is not the object's fault.
type older[P any] func() (P, error)

// handle returns the webhook for creations and updates of a kind. An error from respond is not the object's fault. Objects that are being
// deleted are admitted as they are, even if they are invalid.
//
// The request's context ends when the API server's timeout is over, or earlier if the API server hangs up.
func handle[T any, P object[T]](
	name, action string, kind schema.GroupVersionKind, subresources []*string,
	respond func(ctx context.Context, req *admission.Request, object P, old older[P]) (admission.Response, error),
) entry {
	handler := func(ctx context.Context, req admission.Request) admission.Response {
		switch req.Operation {
		case admissionv1.Create, admissionv1.Update:
		case admissionv1.Delete, admissionv1.Connect:
			return admission.Allowed("")
		default: // the review may contain no request
			return unusable("the request has no operation that is known")
		}
		ctx, cancel := context.WithTimeout(ctx, timeoutSeconds*time.Second)
		defer cancel()
		object, err := decode[T, P](kind, req.Object)
		if err != nil {
			return unusable("object: " + err.Error())
		}
		if object.GetDeletionTimestamp() != nil {
			return admission.Allowed("")
		}
		response, err := respond(ctx, &req, object, func() (P, error) {
			if req.Operation == admissionv1.Create {
				return nil, nil
			}
			return decode[T, P](kind, req.OldObject)
		})
		if err != nil {
			return failed(ctx, err)
		}
		return response
	}
	return entry{name, action, P(new(T)), subresources, admission.HandlerFunc(handler)}
}

// validating returns the webhook that answers with the result of a check. It counts the findings by the rules of a catalogue. The check
// judges the object to be written; old is the stored one, nil on creation. An error from check means that it lacks an input, and is not
// the object's fault. Checks wait only for other objects. Before expensive work they consult ctx, and end early once nobody waits for
// their answer.
func validating[T any, P object[T]](
	name string, kind schema.GroupVersionKind, subresources []*string, rules catalogue,
	check func(ctx context.Context, object, old P) (finding.Report, error),
) entry {
	return handle(name, extensionswebhook.ActionValidating, kind, subresources,
		func(ctx context.Context, _ *admission.Request, object P, stored older[P]) (admission.Response, error) {
			old, err := stored()
			if err := cmp.Or(err, ctx.Err()); err != nil {
				return admission.Response{}, err
			}
			report, err := check(ctx, object, old)
			if err != nil {
				return admission.Response{}, err
			}
			rules.count(kind.Kind, report)
			logRefusal(ctx, report)
			return answer(kind, object.GetName(), report), nil
		})
}

// logRefusal logs that an object is refused, with the rules and the number of errors. Their texts may quote the object, so they are only
// in the answer.
func logRefusal(ctx context.Context, report finding.Report) {
	if len(report.Errors) == 0 {
		return
	}
	rules := sets.New[string]()
	for _, err := range report.Errors {
		rules.Insert(err.Origin)
	}
	logf.FromContext(ctx).Info("Refused", "errors", len(report.Errors), "rules", sets.List(rules))
}

// mutating returns the webhook that answers with a patch of the object to be written. An error from changes is not the object's fault.
func mutating[T any, P object[T]](
	name string, kind schema.GroupVersionKind, subresources []*string,
	changes func(ctx context.Context, object P, old older[P]) ([]jsonpatch.Operation, error),
) entry {
	return handle(name, extensionswebhook.ActionMutating, kind, subresources,
		func(ctx context.Context, _ *admission.Request, object P, old older[P]) (admission.Response, error) {
			patch, err := changes(ctx, object, old)
			return admission.Patched("", patch...), err
		})
}

// undecodable says why the object of a request cannot be decoded, and may quote it.
type undecodable struct{ reason string }

func (u undecodable) Error() string { return u.reason }

// decode decodes the object of a request. The API server has decoded and written it, so there is nothing to report about its fields. The
// decoder of Kubernetes takes two to three times as long for a large CloudProfile. Errors about a Secret give no details, since these
// might quote it.
func decode[T any, P object[T]](kind schema.GroupVersionKind, raw runtime.RawExtension) (P, error) {
	into := P(new(T))
	if len(raw.Raw) == 0 {
		return nil, undecodable{"the request has none"}
	}
	err := strictjson.Unmarshal(raw.Raw, into,
		strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities](), strictjson.Foreign[v1beta1.SeedSelector]())
	switch got := into.GetObjectKind().GroupVersionKind(); {
	case kind == kindSecret && (err != nil || got != kind):
		return nil, undecodable{"not a " + kind.Kind}
	case err != nil:
		return nil, undecodable{fmt.Sprintf("not a %s: %v", kind.Kind, err)}
	case got != kind:
		return nil, undecodable{fmt.Sprintf("it is a %s, not a %s", got, kind)}
	}
	return into, nil
}

const (
	// maxFindings and maxText bound the errors of an answer, in number and in bytes. capkit lint lists the rest.
	maxFindings = 100
	maxText     = 64 << 10
	// The API server truncates each warning to 256 characters once all warnings together have more than 4096.
	maxWarningText = 4096
)

// deny returns the answer for an invalid object: status 422 with a cause for each error, as the API server itself answers. If it leaves
// errors out, the last cause says how many.
func deny(kind schema.GroupVersionKind, name string, report finding.Report) *apierrors.StatusError {
	errs, omitted := mostUseful(report.Errors.Errors(), maxText, func(*field.Error) int { return 0 })
	invalid := apierrors.NewInvalid(kind.GroupKind(), serving.Shown(name, serving.MaxErrorText), errs)
	if omitted > 0 {
		more := fmt.Sprintf("and %d more errors; capkit lint lists all", omitted)
		if report.ErrorsLeftOut {
			more = fmt.Sprintf("and %d more errors or still more; capkit lint lists %d", omitted, finding.Most)
		}
		invalid.ErrStatus.Message += ": " + more
		causes := &invalid.ErrStatus.Details.Causes
		*causes = append(*causes, metav1.StatusCause{Type: (*causes)[len(errs)-1].Type, Message: more})
	}
	return invalid
}

// presentable returns an error whose texts are printable and of bounded length. It returns err itself if that is presentable.
func presentable(err *field.Error) *field.Error {
	limit, body := serving.MaxErrorText, err.ErrorBody()
	if len(err.Field)+len(body) > limit {
		limit /= 4
	} else if text := err.Field + body; words.Printable(text) == text {
		return err
	}
	clone := *err
	clone.Field, clone.Detail = serving.Shown(err.Field, limit), serving.Shown(err.Detail, limit)
	switch value := err.BadValue.(type) {
	case nil, field.OmitValueType:
	case string: // quoted when printed
		clone.BadValue = serving.Cut(value, limit)
	default:
		clone.BadValue = serving.Shown(fmt.Sprint(value), limit)
	}
	return &clone
}

// mostUseful returns at least one and at most 100 errors, presentable, that fit into a number of bytes, and the number of omitted errors.
// If all fit, they keep their order. Otherwise those of a lower class come first, and in each class the first error of each rule precedes
// the second error of any. Only returned errors are formatted, as there may be thousands.
func mostUseful(errs field.ErrorList, limit int, class func(*field.Error) int) (field.ErrorList, int) {
	fitting := func(errs field.ErrorList) field.ErrorList {
		var fit field.ErrorList
		left := limit
		for _, err := range errs[:min(len(errs), maxFindings)] {
			shown := presentable(err)
			if left -= len(shown.Error()); left < 0 && len(fit) > 0 {
				break
			}
			fit = append(fit, shown)
		}
		return fit
	}
	if len(errs) <= maxFindings {
		if fit := fitting(errs); len(fit) == len(errs) {
			return fit, 0
		}
	}
	type kind struct {
		class int
		rule  string
	}
	type place struct{ class, rank int }
	ofKind, places := map[kind]int{}, map[*field.Error]place{}
	var ordered field.ErrorList
	for _, err := range errs {
		of := kind{class(err), err.Origin}
		if rank := ofKind[of]; rank < maxFindings {
			ordered, places[err] = append(ordered, err), place{of.class, rank}
		}
		ofKind[of]++
	}
	slices.SortStableFunc(ordered, func(a, b *field.Error) int {
		return cmp.Or(places[a].class-places[b].class, places[a].rank-places[b].rank)
	})
	useful := fitting(ordered)
	return useful, len(errs) - len(useful)
}

// warn turns findings into warnings that the API server does not truncate. If there are too many, the last one says so. Then the effects of
// an update come first, and errors that it has not caused last.
func warn(findings finding.List) []string {
	const last = 80 // characters for the last one
	classes := map[*field.Error]int{}
	for _, f := range findings {
		classes[f.Error] = slices.Index([]finding.Concern{finding.Effect, finding.Contents, finding.Older}, f.Concern)
	}
	useful, omitted := mostUseful(findings.Errors(), maxWarningText-last, func(err *field.Error) int { return classes[err] })
	warnings := make([]string, 0, len(useful)+1)
	for _, finding := range useful {
		warnings = append(warnings, serving.Cut(finding.Field+": "+finding.Detail, maxWarningText-last))
	}
	if omitted > 0 {
		warnings = append(warnings, fmt.Sprintf("and %d more warnings; capkit lint lists all", omitted))
	}
	return warnings
}

// answer turns a report into a response.
func answer(kind schema.GroupVersionKind, name string, report finding.Report) admission.Response {
	response := admission.Allowed("")
	if len(report.Errors) > 0 {
		response = refused(deny(kind, name, report))
	}
	return response.WithWarnings(warn(report.Warnings)...)
}

// failed answers that the object is not at fault: status 500, after which clients may try again. It logs the reason, unless that might
// quote the object.
func failed(ctx context.Context, err error) admission.Response {
	reason := errors.New(serving.Shown(err.Error(), serving.MaxErrorText))
	logged := reason
	if errors.As(err, new(undecodable)) {
		logged = errors.New("the request could not be decoded")
	}
	logf.FromContext(ctx).Error(logged, "Not judged")
	return refused(apierrors.NewInternalError(reason))
}

// unusable answers a request that no API server would send: status 400.
func unusable(reason string) admission.Response {
	return refused(apierrors.NewBadRequest(serving.Shown(reason, serving.MaxErrorText)))
}

func refused(err *apierrors.StatusError) admission.Response {
	status := err.Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &status}}
}
