// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"fmt"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// sample has a field of every kind that the walk distinguishes.
type sample struct {
	metav1.TypeMeta `json:",inline"`
	Inner           `json:",inline"`

	Text     string                `json:"text,omitempty"`
	Flag     *bool                 `json:"flag,omitempty"`
	Small    int8                  `json:"small,omitempty"`
	Count    *int64                `json:"count,omitempty"`
	Unsigned uint16                `json:"unsigned,omitempty"`
	Ratio    float32               `json:"ratio,omitempty"`
	Bytes    []byte                `json:"bytes,omitempty"`
	Texts    []string              `json:"texts,omitempty"`
	Lists    [][]int               `json:"lists,omitempty"`
	Pair     [2]bool               `json:"pair,omitempty"`
	Map      map[string]*Inner     `json:"map,omitempty"`
	ByNumber map[int]string        `json:"byNumber,omitempty"`
	Size     *resource.Quantity    `json:"size,omitempty"`
	Sizes    []resource.Quantity   `json:"sizes,omitempty"`
	Wait     metav1.Duration       `json:"wait"`
	When     *metav1.Time          `json:"when,omitempty"`
	Port     *intstr.IntOrString   `json:"port,omitempty"`
	Raw      *runtime.RawExtension `json:"raw,omitempty"`
	Any      any                   `json:"any,omitempty"`
	Self     *sample               `json:"self,omitempty"`
	Quoted   int                   `json:"quoted,omitempty,string"`
	Untagged string
	Hidden   string `json:"-"`
}

type Inner struct {
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

type problem struct {
	Type          field.ErrorType
	Field, Origin string
}

func problems(errs finding.List) []problem {
	var all []problem
	for _, err := range errs {
		all = append(all, problem{err.Type, err.Field, err.Origin})
	}
	return all
}

func unknown(path string) problem {
	return problem{field.ErrorTypeForbidden, path, strictjson.OriginUnknownField}
}

func duplicate(path string) problem {
	return problem{field.ErrorTypeDuplicate, path, strictjson.OriginDuplicateKey}
}

func wrongType(path string) problem {
	return problem{field.ErrorTypeInvalid, path, strictjson.OriginFieldType}
}

func TestDecodeFindsEveryProblem(t *testing.T) {
	root := field.NewPath("spec", "providerConfig")
	at := func(path string) string { return root.String() + path }
	wrongTypes := func(paths ...string) (all []problem) {
		for _, path := range paths {
			all = append(all, wrongType(at(path)))
		}
		return all
	}
	syntax := []problem{{field.ErrorTypeInvalid, at(""), strictjson.OriginSyntax}}
	for name, test := range map[string]struct {
		data string
		want []problem
	}{
		"empty object":        {`{}`, nil},
		"null document":       {`null`, nil},
		"nulls everywhere":    {`{"text":null,"flag":null,"map":{"a":null},"texts":[null],"size":null,"self":null,"any":null}`, nil},
		"list for the root":   {`[]`, wrongTypes("")},
		"string for the root": {`"x"`, wrongTypes("")},
		"unknown field":       {`{"foo":1}`, []problem{unknown(at(".foo"))}},
		"unknown below list":  {`{"self":{"map":{"a.b":{"foo":1}}}}`, []problem{unknown(at(".self.map[a.b].foo"))}},
		"unknown with dots":   {`{"a.b":{"c":1}}`, []problem{unknown(at(".a.b"))}},
		"case matters":        {`{"Text":"x","untagged":"y","Untagged":"z"}`, []problem{unknown(at(".Text")), unknown(at(".untagged"))}},
		"ignored field":       {`{"Hidden":"x","-":"y"}`, []problem{unknown(at(".Hidden")), unknown(at(".-"))}},
		"inline fields":       {`{"kind":"a","apiVersion":"b","name":"c","labels":{"d":"e"}}`, nil},
		"duplicate field":     {`{"text":"a","text":"b"}`, []problem{duplicate(at(".text"))}},
		"thrice is one error": {`{"text":"a","text":"b","text":"c"}`, []problem{duplicate(at(".text"))}},
		"duplicate map key":   {`{"labels":{"a":"1","a":"2"}}`, []problem{duplicate(at(".labels[a]"))}},
		"duplicate in any":    {`{"any":[{"a":{"b":1,"b":2}}]}`, []problem{duplicate(at(".any[0][a][b]"))}},
		"duplicate by escape": {`{"labels":{"a":"1","\u0061":"2"}}`, []problem{duplicate(at(".labels[a]"))}},
		"unknown and twice":   {`{"foo":1,"foo":2}`, []problem{unknown(at(".foo")), duplicate(at(".foo"))}},
		"nothing inside raw":  {`{"raw":{"foo":1,"foo":[{}]}}`, nil},
		"wrong kinds": {
			`{"text":1,"flag":"true","texts":"a","map":[],"labels":7,"self":"x"}`, wrongTypes(".text", ".flag", ".texts", ".map", ".labels", ".self"),
		},
		"deepest place":    {`{"texts":["a",{"b":1},"c",4],"lists":[[1],[2,"3"],4]}`, wrongTypes(".texts[1]", ".texts[3]", ".lists[1][1]", ".lists[2]")},
		"numbers":          {`{"small":128,"count":1.5,"unsigned":-1,"ratio":1e99}`, wrongTypes(".small", ".count", ".unsigned", ".ratio")},
		"numbers that fit": {`{"small":-128,"count":9223372036854775807,"unsigned":65535,"ratio":1e9}`, nil},
		"number in any":    {`{"any":{"a":1e999}}`, wrongTypes(".any[a]")},
		"bytes":            {`{"bytes":"%%%"}`, wrongTypes(".bytes")},
		"array":            {`{"pair":[true,"x",3]}`, wrongTypes(".pair[1]", ".pair[2]")},
		"number keys":      {`{"byNumber":{"1":"a","b":"c","2":3}}`, wrongTypes(".byNumber[b]", ".byNumber[2]")},
		"formats": {
			`{"size":"4Gx","sizes":["1","z",{}],"wait":"5","when":"now","port":[]}`, wrongTypes(".size", ".sizes[1]", ".sizes[2]", ".wait", ".when", ".port"),
		},
		"quoted": {`{"quoted":3,"self":{"quoted":"4"}}`, wrongTypes(".quoted")},
		"document order": {
			`{"zzz":1,"self":{"text":2,"yyy":3},"text":4,"labels":{"b":1,"a":2}}`,
			append([]problem{unknown(at(".zzz")), wrongType(at(".self.text")), unknown(at(".self.yyy"))}, wrongTypes(".text", ".labels[b]", ".labels[a]")...),
		},
		"not JSON":             {`{"text":`, syntax},
		"nothing":              {``, syntax},
		"two documents":        {`{} {}`, syntax},
		"nested too deep":      {strings.Repeat(`{"self":`, 20000) + `1` + strings.Repeat(`}`, 20000), syntax},
		"many open brackets":   {strings.Repeat(`[`, 1000000), syntax},
		"spaces between token": {" { \"text\" :\n\t 1 , \"texts\" : [ \"a\" , 2 ] } ", wrongTypes(".text", ".texts[1]")},
	} {
		t.Run(name, func(t *testing.T) {
			got := strictjson.Decode([]byte(test.data), &sample{}, root)
			if !reflect.DeepEqual(problems(got), test.want) {
				t.Errorf("got  %v\nwant %v\n%v", problems(got), test.want, got)
			}
		})
	}
}

func TestDecodeMessages(t *testing.T) {
	for data, want := range map[string]string{
		`{"texts":"a"}`:         `texts: Invalid value: "a": expected a list of strings, got a string; write it in brackets: [a]`,
		`{"texts":"no"}`:        `texts: Invalid value: "no": expected a list of strings, got a string; write it in brackets: ["no"]`,
		`{"sizes":{}}`:          `sizes: Invalid value: "{}": expected a list of quantities like 4Gi, got an object`,
		`{"texts":"a b"}`:       `texts: Invalid value: "a b": expected a list of strings, got a string; write it in brackets`,
		`{"lists":true}`:        `lists: Invalid value: "true": expected a list of lists, got a boolean`,
		`{"self":[1, 2]}`:       `self: Invalid value: "[1, 2]": expected an object, got a list`,
		`{"text":5}`:            `text: Invalid value: "5": expected a string, got a number; put it in quotes`,
		`{"text":{"name":"a"}}`: `text: Invalid value: "{\"name\":\"a\"}": expected a string, got an object; write a`,
		`{"text":{"a":"b"}}`:    `text: Invalid value: "{\"a\":\"b\"}": expected a string, got an object`,
		`{"flag":"yes"}`:        `flag: Invalid value: "yes": expected true or false, got a string`,
		`{"count":"5"}`:         `count: Invalid value: "5": expected a whole number, got a string; write 5, without quotes`,
		`{"ratio":"5"}`:         `ratio: Invalid value: "5": expected a number, got a string; write 5, without quotes`,
		`{"ratio":"x"}`:         `ratio: Invalid value: "x": expected a number, got a string`,
		`{"size":"8GB"}`:        `size: Invalid value: "8GB": must be a quantity like 4Gi; write 8Gi`,
		`{"size":"4 cores"}`:    `size: Invalid value: "4 cores": must be a quantity like 4Gi; write 4`,
		`{"small":300}`:         `small: Invalid value: "300": must be a whole number between -128 and 127`,
		`{"unsigned":-3}`:       `unsigned: Invalid value: "-3": must be a whole number between 0 and 65535`,
		`{"ratio":1e99}`:        `ratio: Invalid value: "1e99": must be a number within the range of the field`,
		`{"wait":"5"}`:          `wait: Invalid value: "5": must be a duration like 60s or 1h30m: missing unit in duration "5"`,
		`{"wait":5}`:            `wait: Invalid value: "5": expected a duration like 60s or 1h30m, got a number; write 5s, if seconds are meant`,
		`{"when":"today"}`:      `when: Invalid value: "today": must be a time like 2006-01-02T15:04:05Z`,
		`{"when":"2090-01-31"}`: `when: Invalid value: "2090-01-31": must be a time like 2006-01-02T15:04:05Z; write "2090-01-31T00:00:00Z"`,
		`{"size":[]}`:           `size: Invalid value: "[]": expected a quantity like 4Gi, got a list`,
		`{"size":"x"}`:          `size: Invalid value: "x": must be a quantity like 4Gi`,
		`{"byNumber":{"a":""}}`: `byNumber[a]: Invalid value: "a": the key must be a whole number between -9223372036854775808 and 9223372036854775807`,
		`{"quoted":3}`: `quoted: Invalid value: "3": expected a whole number ` +
			`between -9223372036854775808 and 9223372036854775807 in quotes, got a number`,
		`{"texs":[]}`:              `texs: Forbidden: unknown field "texs"; did you mean "texts"?`,
		`{"TEXT":""}`:              `TEXT: Forbidden: unknown field "TEXT"; did you mean "text"?`,
		`{"foobar":""}`:            `foobar: Forbidden: unknown field "foobar"`,
		`{"map":{"a":{"x":1}}}`:    `map[a].x: Forbidden: unknown field "x"; known fields: labels, name`,
		`{"map":{"a":{"nmae":1}}}`: `map[a].nmae: Forbidden: unknown field "nmae"; did you mean "name"?`,
		`{"text":"a","text":"b"}`:  `text: Duplicate value: "text": the key is given more than once`,
		"{\n \"text\": x}":         `Invalid value: "{ \"text\": x}": not valid JSON at line 2, column 10: invalid character 'x' looking for beginning of value`,
		`[]`:                       `Invalid value: "[]": expected an object, got a list`,
	} {
		got := strictjson.Decode([]byte(data), &sample{}, nil)
		if len(got) != 1 || got[0].String() != want {
			t.Errorf("%s\n got %v\nwant %s", data, got, want)
		}
	}
}

func TestDecodeValuesStayPrintable(t *testing.T) {
	data := `{"flag":"` + strings.Repeat("ä", 1000) + `","text":{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}}"
	for _, err := range strictjson.Decode([]byte(data), &sample{}, nil) {
		if value := err.BadValue.(string); len([]rune(value)) != 60 || !strings.HasSuffix(value, "…") {
			t.Errorf("%s: %q", err.Field, value)
		}
	}
}

func TestDecodeNeedsPointer(t *testing.T) {
	for _, into := range []any{nil, sample{}, (*sample)(nil)} {
		if got := strictjson.Decode([]byte(`{}`), into, nil); len(got) != 1 || got[0].Type != field.ErrorTypeInternal {
			t.Errorf("%T: %v", into, got)
		}
	}
}

// hostile returns documents with many errors or deep nesting, with lengths proportional to n.
func hostile(n int) map[string]string {
	list := func(n int) string { return `[` + strings.TrimSuffix(strings.Repeat(`1,`, n), ",") + `]` }
	below := func(open, inside string) string {
		return strings.Repeat(open, 90*n) + inside + strings.Repeat("}", 90*n)
	}
	return map[string]string{
		"wrong leaves":  `{"texts":` + list(5000*n) + `}`,
		"one mistake":   `{"lists":[` + list(5000*n) + `],"text":1}`,
		"unknown":       `{"self":{` + strings.TrimSuffix(strings.Repeat(`"texxts":1,`, 900*n), ",") + `}}`,
		"deep":          below(`{"self":`, `{"x":`+strings.Repeat("[", 4*n)+strings.Repeat("]", 4*n)+`}`),
		"deep errors":   below(`{"x":1,"self":`, "1"),
		"deep and wide": below(`{"self":`, `{"texts":`+list(3000*n)+`}`),
		"long key":      `{"` + strings.Repeat("k", n<<20/100) + `":1,"map":{"` + strings.Repeat("l", n<<20/100) + `":{"x":1,"y":2}}}`,
	}
}

// TestDecodeIsLinear decodes documents of up to 400 KiB. Quadratic work would allocate 16 times as much for four times the input.
func TestDecodeIsLinear(t *testing.T) {
	smaller := hostile(10)
	for name, larger := range hostile(40) {
		const most = 12.0
		few, _ := decoded(smaller[name], &sample{})
		bytes, errs := decoded(larger, &sample{})
		total := 0
		for _, err := range errs {
			total += len(err.Field) + len(err.Detail)
		}
		if len(errs) == 0 || total > 8<<20 {
			t.Errorf("%s: %d errors of %d bytes", name, len(errs), total)
		}
		if bytes/few > most {
			t.Errorf("%s: four times the input takes %.1f times the memory", name, bytes/few)
		}
	}
}

// decoded decodes a document, and returns the number of allocated bytes.
func decoded(document string, into any) (bytes float64, errs finding.List) {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	errs = strictjson.Decode([]byte(document), into, field.NewPath("at"))
	goruntime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc), errs
}

// BenchmarkDecodeHostile has two sizes: nonlinear work without allocations shows in MB/s.
func BenchmarkDecodeHostile(b *testing.B) {
	for _, n := range []int{10, 40} {
		for name, document := range hostile(n) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(document)))
				for b.Loop() {
					strictjson.Decode([]byte(document), &sample{}, field.NewPath("at"))
				}
			})
		}
	}
}

func TestDecodeSaysWhatItLeavesOut(t *testing.T) {
	data := `{"texts":[` + strings.TrimSuffix(strings.Repeat(`1,`, 10000), ",") + `]}`
	errs := strictjson.Decode([]byte(data), &sample{}, nil)
	last := errs[len(errs)-1]
	if want := fmt.Sprintf("%d more problems are not listed", 10000-len(errs)+1); last.Origin != errs[0].Origin || last.Detail != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

func ExampleDecode() {
	data := []byte(`{
	  "spec": {
	    "type": "openstack",
	    "machineImage": [],
	    "machineTypes": [{"name": "medium", "cpu": "2", "memory": "4GB!"}],
	    "regions": {"name": "europe"}
	  }
	}`)
	for _, err := range strictjson.Decode(data, &gardencorev1beta1.CloudProfile{}, nil) {
		fmt.Println(err.Field, err.Origin)
	}
	// Output:
	// spec.machineImage unknown-field
	// spec.machineTypes[0].memory field-type
	// spec.regions field-type
}

// accepts is the oracle: Kubernetes' decoder with strict field validation.
func accepts(data []byte, into any) bool {
	strict, err := kjson.UnmarshalStrict(data, into)
	return err == nil && len(strict) == 0
}

type hidden struct {
	A int `json:"a"`
}

// Types may embed an unexported struct under a name. encoding/json sets its fields, but not a pointer to it.
func TestUnexportedEmbeddedUnderAName(t *testing.T) {
	type holder struct {
		hidden `json:"h"`

		B int `json:"b"`
	}
	type pointer struct {
		*hidden `json:"h"`
	}
	const no = `h: Forbidden: unknown field "h"`
	for document, want := range map[string][3]string{
		`{"h": null}`:       {"", no, "cannot be read: a *strictjson_test.pointer cannot hold this: "},
		`{"h": {"a": 1}}`:   {"", no, "cannot be read: "},
		`{"h": {"a": "x"}}`: {"h.a: Invalid value", no, "cannot be read: "},
		`{"h": {"c": 1}}`:   {`h.c: Forbidden: unknown field "c"`, no, "cannot be read: "},
	} {
		var one holder
		var other pointer
		for i, errs := range []finding.List{
			strictjson.Decode([]byte(document), &one, nil), strictjson.Decode([]byte(document), &other, nil), strictjson.DecodeKnown([]byte(document), &other, nil),
		} {
			if got := fmt.Sprint(errs.Errors().ToAggregate()); (want[i] == "") != (len(errs) == 0) || !strings.Contains(got, want[i]) {
				t.Errorf("%s as number %d: %s, want %q", document, i, got, want[i])
			}
		}
	}
	if errs := strictjson.DecodeKnown([]byte(`{"h": null}`), &holder{}, nil); len(errs) > 0 {
		t.Error(errs)
	}
	err := strictjson.Unmarshal([]byte(`{"h": null}`), &holder{})
	if err == nil || !strings.HasPrefix(err.Error(), "a *strictjson_test.holder cannot hold this: ") {
		t.Error(err)
	}
}
