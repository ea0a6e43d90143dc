import { parseHeaderFormat } from '#resources/format/log-format.ts';
import { isFields } from '#resources/words/fields.ts';
import { joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, dropped } from '../remark.ts';
import { findObject, type SourceObject } from '../source-object.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import type { Draft } from './draft.ts';
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

/**
 * What ingress-nginx tells services, over what clients claim. Services behind it believe these. See
 * its `nginx.tmpl`, `proxy_set_header`. The edge itself sets other `X-Forwarded-*`.
 */
const SAID = {
  'x-forwarded-for': said('%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'),
  'x-forwarded-scheme': said('%REQ(X-FORWARDED-PROTO)%'),
  'x-real-ip': said('%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%'),
  'x-scheme': said('%REQ(X-FORWARDED-PROTO)%'),
};

/** It is for none, since CGI takes it for an address of its own (https://httpoxy.org). */
const REMOVED = ['proxy'];

function said(value: string): object {
  return { value, append: false };
}

/** What nginx tells services of the certificates of clients, and clients must not tell. */
const TOLD = [
  'ssl-client-cert',
  'ssl-client-issuer-dn',
  'ssl-client-subject-dn',
  'ssl-client-verify',
];

function requestHeaders(annotations: Annotations): Part {
  const written = annotations.get('x-forwarded-prefix') ?? '';
  const prefix = written.replaceAll('%', '%%');
  const parsed = parseHeaderFormat(prefix);
  const added = written === '' || 'error' in parsed ? {} : { 'x-forwarded-prefix': said(prefix) };
  return {
    fields: { add_request_headers: { ...SAID, ...added }, remove_request_headers: REMOVED },
    remarks: [
      ...('error' in parsed
        ? [dropped(annotationPath('x-forwarded-prefix'), 'it is no value of a header')]
        : []),
      ...(annotations.get('auth-tls-secret') === undefined
        ? []
        : [
            changed(
              annotationPath('auth-tls-secret'),
              `services are not told of the certificate: ${TOLD.join(', ')} are removed from requests`,
            ),
          ]),
    ],
  };
}

/** Removes what a client says of its certificate, on a host where clients show one. */
export function withoutTold(draft: Draft): Draft {
  const { remove_request_headers: removed } = draft.spec;
  if (!Array.isArray(removed)) return draft;
  return { ...draft, spec: { ...draft.spec, remove_request_headers: [...removed, ...TOLD] } };
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
