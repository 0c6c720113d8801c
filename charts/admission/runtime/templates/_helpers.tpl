{{- define "name" -}}
gardener-extension-admission-{{ if .Values.component.beside }}capkit-{{ end }}{{ .Values.component.type }}
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

{{- /* Where API servers outside of the cluster reach the webhooks, as host or host:port. */ -}}
{{- define "url" -}}
{{- printf "%s.%s" (include "name" .) .Release.Namespace -}}
{{- if ne (int .Values.webhookConfig.servicePort) 443 -}}
{{- printf ":%d" (int .Values.webhookConfig.servicePort) -}}
{{- end -}}
{{- end -}}

{{- /* The folder of the kubeconfig for the virtual garden; empty if whoever installs the chart injects one. */ -}}
{{- define "kubeconfigFolder" -}}
{{- if .Values.projectedKubeconfig -}}
{{- .Values.projectedKubeconfig.baseMountPath -}}
{{- else if .Values.kubeconfig -}}
/etc/{{ include "name" . }}/kubeconfig
{{- end -}}
{{- end -}}

{{- /* A file of the chart, given with the context in a list, with what differs between components in place of what stands for it. */ -}}
{{- define "file" -}}
{{- $context := first . -}}
{{- $context.Files.Get (last .) | replace "COMPONENT_NAME" (include "name" $context) | replace "PROVIDER_TYPE" $context.Values.component.type | replace "PROVIDER_TITLE" $context.Values.component.title -}}
{{- end -}}
