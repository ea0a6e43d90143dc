import type { Document } from 'yaml';
import { json } from './holes.ts';
import { CONTAINER, mapAt } from './nodes.ts';
import { type Define, OBJECTS, TEXT } from './values.ts';

/** How the images of our manifests are called in the values. */
const KEYS: Readonly<Record<string, string>> = {
  tollwright: 'image',
  'envoyproxy/envoy': 'envoyImage',
  'valkey/valkey': 'valkeyImage',
};

/** What others of that name lack. */
const NEEDS: Readonly<Record<string, string>> = {
  envoyImage: '. Pods drain by its bash, which distroless ones lack',
};

const DIGEST = { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' };

/** Defines how images are fetched. */
export function definePulling(define: Define): void {
  define({
    name: 'imagePullPolicy',
    schema: { enum: ['', 'Always', 'IfNotPresent', 'Never'] },
    default: '',
    description: '`imagePullPolicy` of all containers. Default: what Kubernetes does',
  });
  define({
    name: 'imagePullSecrets',
    schema: OBJECTS,
    default: [],
    description:
      'Secrets for your registry, as `[{ name: registry }]`. Each namespace with Gateways needs them, too',
  });
}

/** Makes the image of the first container into values. Ours has the version of the chart. */
export function editImage(document: Document, define: Define): void {
  const container = mapAt(document, ...CONTAINER);
  const [repository = '', tag = ''] = String(container.get('image')).split(':');
  const key = keyOf(repository);
  const isOurs = key === KEYS.tollwright;
  define({
    name: `${key}.repository`,
    schema: { type: 'string', minLength: 1 },
    default: repository,
    description: `The image \`${repository}\`, where your cluster finds it${NEEDS[key] ?? ''}`,
  });
  define({
    name: `${key}.tag`,
    schema: TEXT,
    default: isOurs ? '' : tag,
    description: isOurs ? 'Its tag. Default: the version of the chart' : 'Its tag',
  });
  define({
    name: `${key}.digest`,
    schema: DIGEST,
    default: '',
    description: 'Its digest, `sha256:…`, in place of the tag',
  });
  container.set('image', json(imageExpression(repository)));
}

/** Returns the expression of an image of our manifests. */
export function imageExpression(repository: string): string {
  return `include "tollwright.image" (list $.Values.${keyOf(repository)} $.Chart.AppVersion)`;
}

function keyOf(repository: string): string {
  const key = KEYS[repository];
  if (key === undefined) throw new Error(`the chart has no value for the image ${repository}`);
  return key;
}

/**
 * The templates that images are named by, and the Secrets of registries as one text. Without a tag
 * an image has the version.
 */
export const IMAGE_TEMPLATES = `{{- define "tollwright.image" -}}
{{- $image := index . 0 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default (index . 1) }}
{{- end -}}
{{- end }}
{{- define "tollwright.pullSecrets" -}}
{{- range $at, $secret := . }}{{ if $at }},{{ end }}{{ $secret.name }}{{ end -}}
{{- end }}
`;
