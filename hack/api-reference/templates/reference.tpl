{{- /* The whole document: each kind, followed by the types that it is made of, in the order in which they are needed. */ -}}
{{- define "gvList" -}}
{{- $cloud := markdownTemplateValue "cloud" }}{{ $title := markdownTemplateValue "title" }}{{ $types := (index . 0).Types }}{{ $shown := dict -}}
<!-- Generated from pkg/apis/{{ $cloud }}/v1alpha1: do not edit, run make generate. -->
# {{ $title }}: API reference

The objects that operators and users of the {{ $title }} provider write inside Gardener's own objects, in the API group
`{{ $cloud }}.provider.extensions.gardener.cloud`.
{{- if eq $cloud "openstack" }} Names are written exactly as here: a field with another name is an error.
[{{ $title }}](../{{ markdownTemplateValue "page" }}) says how the parts work together. The manifests
[cloudprofile-full.yaml](../../example/cloudprofile-full.yaml) and [shoot-full.yaml](../../example/shoot-full.yaml) use each
field once.
{{- else }} Names are written exactly as here. [{{ $title }}](../{{ markdownTemplateValue "page" }})
explains how the parts work together, and what happens to a field with another name. There are manifests in
[example/{{ $cloud }}](../../example/{{ $cloud }}).
{{- end }}

| kind | where |
|---|---|
{{- $where := dict "CloudProfileConfig" "`spec.providerConfig` of a CloudProfile or NamespacedCloudProfile"
  "InfrastructureConfig" "`spec.provider.infrastructureConfig` of a Shoot"
  "ControlPlaneConfig" "`spec.provider.controlPlaneConfig` of a Shoot"
  "WorkerConfig" "`spec.provider.workers[].providerConfig` of a Shoot"
  "WorkerStatus" "`status.providerStatus` of a Worker" }}
{{- $kinds := list "CloudProfileConfig" "InfrastructureConfig" "ControlPlaneConfig" "WorkerConfig" "WorkerStatus" }}
{{- range $kinds }}{{ if index $types . }}
| [{{ . }}](#{{ lower . }}) | {{ index $where . }} |
{{- end }}{{ end }}
{{ range $kinds }}{{ if index $types . }}
{{- template "type" dict "type" (index $types .) "types" $types "shown" $shown "cloud" $cloud }}
{{- end }}{{ end }}
{{- end -}}

{{- /* A type, and those of its fields that have not been shown yet. */ -}}
{{- define "type" -}}
{{- $type := .type }}{{ $types := .types }}{{ $shown := .shown }}{{ $cloud := .cloud }}{{ $_ := set $shown $type.Name true }}
##{{ if $type.References }}#{{ end }} {{ $type.Name }}

{{ template "text" $type.Doc }}
{{ with $type.SortedReferences }}
Used in: {{ range $i, $user := . }}{{ if $i }}, {{ end }}{{ markdownRenderTypeLink $user }}{{ end }}.
{{ end }}
| field | type | |
|---|---|---|
{{ if not $type.References -}}
| `apiVersion` | string, required | `{{ $cloud }}.provider.extensions.gardener.cloud/v1alpha1` |
| `kind` | string, required | `{{ $type.Name }}` |
{{ end -}}
{{ range $type.Members -}}
| `{{ .Name }}` | {{ template "kind" .Type }}{{ if not (index .Markers "optional") }}, required{{ end }} | {{ template "text" (regexReplaceAll "^[A-Za-z0-9]+" .Doc (printf "`%s`" .Name)) }} |
{{ end -}}
{{ range $type.Members }}{{ $next := index $types .Type.Name }}
{{- if and $next (not (hasKey $shown .Type.Name)) }}{{ template "type" dict "type" $next "types" $types "shown" $shown "cloud" $cloud }}{{ end }}
{{- end }}
{{- end -}}

{{- /* The type of a field. The numbers are crd-ref-docs's: a map, a list. */ -}}
{{- define "kind" -}}
{{- if eq .Name "Duration" }}duration
{{- else if eq (int .Kind) 3 }}map of {{ markdownRenderTypeLink .KeyType }}s to {{ markdownRenderTypeLink .ValueType }}s
{{- else if eq (int .Kind) 5 }}list of {{ markdownRenderTypeLink .UnderlyingType }}{{ if .IsBasic }}s{{ end }}
{{- else }}{{ markdownRenderTypeLink . }}
{{- end }}
{{- end -}}

{{- /* A doc comment as Markdown. In JSON there is no nil. */ -}}
{{- define "text" -}}
{{ regexReplaceAll "\\bNil: " (. | replace "\n" " ") "Absent: " | replace "|" "\\|" | replace "*" "\\*" | replace "<" "&lt;" }}
{{- end -}}
