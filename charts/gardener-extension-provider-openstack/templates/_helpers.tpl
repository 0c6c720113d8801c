{{- /* The name of all objects. */ -}}
{{- define "name" -}}
gardener-extension-{{ .Values.component.name }}
{{- end -}}

{{- define "selector" -}}
app.kubernetes.io/name: {{ include "name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "labels" -}}
{{ include "selector" . }}
{{- /* A tag may have a digest behind it, which a label has no room for, and begin or be cut where a label cannot. */}}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | splitList "@" | first | trunc 63 | trimAll "._-" | quote }}
{{- end -}}

{{- define "metricsPort" -}}
{{- if gt (len .Values.usablePorts) 1 -}}
{{- index .Values.usablePorts 0 -}}
{{- else -}}
{{- .Values.metricsPort -}}
{{- end -}}
{{- end -}}

{{- define "healthPort" -}}
{{- if gt (len .Values.usablePorts) 1 -}}
{{- index .Values.usablePorts 1 -}}
{{- else -}}
{{- .Values.healthPort -}}
{{- end -}}
{{- end -}}
