import { type Document, isMap, isScalar, isSeq } from 'yaml';
import { json } from './holes.ts';
import { listAt } from './nodes.ts';

/** A part of a domain (RFC 1123). */
const LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';

/**
 * What a role names that ends with the operator's GATEWAY_ID. Of each: the ids that stand there as
 * they are, the longest of them, and how many digits the hash of another has. See `objectName` and
 * `edgesName`.
 */
const NAMES: Readonly<Record<string, readonly [ids: string, longest: number, digits: number]>> = {
  'gateway-controlplane-status': [`^${LABEL}([.]${LABEL})*$`, 253, 16],
  'gateway-drained': [`^${LABEL}([.]${LABEL})*$`, 253, 16],
  'gateway-edges': [`^${LABEL}$`, 63, 8],
};

/** Has the rules of a role name objects as the control plane does with its GATEWAY_ID. */
export function nameByGateway(document: Document): void {
  for (const rule of listAt(document, 'rules').items) {
    const names = isMap(rule) ? rule.get('resourceNames') : undefined;
    for (const name of isSeq(names) ? names.items : []) {
      const found = isScalar(name) ? NAMES[String(name.value)] : undefined;
      if (!isScalar(name) || found === undefined) continue;
      const [ids, longest, digits] = found;
      const args = `${JSON.stringify(name.value)} ${JSON.stringify(ids)} ${longest} ${digits}`;
      Object.assign(name, json(`include "tollwright.named" (list ${args} $)`));
    }
  }
}

/** The template of these names. */
export const NAMED_TEMPLATE = `{{- define "tollwright.named" -}}
{{- $env := (index . 4).Values.controlplane.env | default dict -}}
{{- $id := get $env "GATEWAY_ID" | trim -}}
{{- $named := printf "%s-%s" (index . 0) $id -}}
{{- if has $id (list "" "default") -}}
{{ index . 0 }}
{{- else if and (regexMatch (index . 1) $id) (le (len $named) (index . 2)) -}}
{{ $named }}
{{- else -}}
{{ index . 0 }}-{{ sha256sum $id | trunc (index . 3) }}
{{- end -}}
{{- end }}
`;
