{{- define "name" -}}
gardener-extension-admission-{{ if .Values.component.beside }}capkit-{{ end }}{{ .Values.component.type }}
{{- end -}}
