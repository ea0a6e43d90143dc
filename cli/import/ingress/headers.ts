import { isFields } from '#resources/words/fields.ts';
import { joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, dropped } from '../remark.ts';
import { findObject, type SourceObject } from '../source-object.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import type { Ingress } from './ingress.ts';

/** Returns the headers of an Ingress, and the host that its services see. */
export function headers(ingress: Ingress, objects: readonly SourceObject[]): Part {
  return joinParts([
    hostOf(ingress.annotations),
    requestHeaders(ingress.annotations),
    responseHeaders(ingress, objects),
  ]);
}

function hostOf(annotations: Annotations): Part {
  const host = annotations.get('upstream-vhost');
  if (host === undefined || host === '$host') return NOTHING;
  if (!host.includes('$')) return { fields: { host_rewrite: host }, remarks: [] };
  const why = 'it has a variable of nginx. The service sees the host of the request';
  return remarksOnly(changed(annotationPath('upstream-vhost'), why));
}

/** What nginx tells services of the certificates of clients, and clients must not tell. */
const TOLD = [
  'ssl-client-cert',
  'ssl-client-issuer-dn',
  'ssl-client-subject-dn',
  'ssl-client-verify',
];

function requestHeaders(annotations: Annotations): Part {
  const prefix = annotations.get('x-forwarded-prefix');
  const added =
    prefix === undefined
      ? {}
      : {
          add_request_headers: {
            'x-forwarded-prefix': { value: prefix.replaceAll('%', '%%'), append: false },
          },
        };
  if (annotations.get('auth-tls-secret') === undefined) return { fields: added, remarks: [] };
  return {
    fields: { ...added, remove_request_headers: TOLD },
    remarks: [
      changed(
        annotationPath('auth-tls-secret'),
        `services are not told of the certificate: ${TOLD.join(', ')} are removed from requests`,
      ),
    ],
  };
}

/** They stand in a ConfigMap, `namespace/name`. */
function responseHeaders({ annotations, object }: Ingress, objects: readonly SourceObject[]): Part {
  const reference = annotations.get('custom-headers');
  if (reference === undefined) return NOTHING;
  const [first = '', second] = reference.split('/');
  const [namespace, name] = second === undefined ? [object.namespace, first] : [first, second];
  const data = findObject(objects, 'ConfigMap', name, namespace)?.fields.data;
  if (!isFields(data)) {
    const why = `the ConfigMap ${reference} is not among the files. Name its file too, or write \`add_response_headers\``;
    return remarksOnly(dropped(annotationPath('custom-headers'), why));
  }
  const headers = Object.entries(data).map(([key, value]) => [
    key,
    { value: String(value).replaceAll('%', '%%'), append: false },
  ]);
  return { fields: { add_response_headers: Object.fromEntries(headers) }, remarks: [] };
}
