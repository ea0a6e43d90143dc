import type { FieldPath } from '#resources/finding.ts';
import type { Fields } from '#resources/words/fields.ts';
import { type ImportedDocument, ourDocument } from '../document.ts';
import { fieldsAt, listAt } from '../fields-at.ts';
import { fieldsOnly, joinParts, NOTHING, type Part, remarksOnly } from '../part.ts';
import { changed, closed, dropped, type Remark } from '../remark.ts';
import { findObject, type SourceObject } from '../source-object.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import type { Backend, Ingress } from './ingress.ts';
import { secretName } from './secret-name.ts';

/** Returns the fields of a Mapping that say where requests go. */
export function serviceFields(
  { port, service }: Backend,
  annotations: Annotations,
  namespace?: string,
): Fields {
  const scheme = isTls(annotations) ? 'https://' : '';
  const name = namespace === undefined ? service : `${service}.${namespace}`;
  return {
    service: `${scheme}${name}${typeof port === 'number' ? `:${port}` : ''}`,
    // The Pods of a cluster have no proxy of ours before them.
    ...(annotations.on('service-upstream')
      ? { resolver: 'kubernetes-service' }
      : { resolver: 'endpoint', hop_tls: false }),
  };
}

/** Returns the backend with the number of a port that has only a name, where it is known. */
export function withPortNumber(
  backend: Backend,
  namespace: string | undefined,
  objects: readonly SourceObject[],
): Backend {
  const { port, service } = backend;
  if (typeof port !== 'string') return backend;
  if (/^\d+$/.test(port)) return { service, port: Number(port) };
  const found = findObject(objects, 'Service', service, namespace);
  const ports = listAt(found?.fields, 'spec', 'ports').map(each => fieldsAt(each));
  const number = ports.find(each => each.name === port)?.port;
  return typeof number === 'number' ? { service, port: number } : backend;
}

/**
 * Closes what goes to a port that has only a name. Without a number a Mapping means the port named
 * `http`, so that name needs none.
 */
export function unknownPort({ port, service }: Backend, at: FieldPath): readonly Remark[] {
  if (typeof port !== 'string' || port === 'http') return [];
  const message = `the number of the port "${port}" of ${service} is not known. Name the file of the Service too, or write the number`;
  return [closed([...at, 'backend'], message)];
}

function protocolOf(annotations: Annotations): string {
  return (annotations.get('backend-protocol') ?? 'HTTP').toUpperCase();
}

function isTls(annotations: Annotations): boolean {
  return ['HTTPS', 'GRPCS'].includes(protocolOf(annotations));
}

/** Returns how the service is spoken to. WebSockets pass nginx without an annotation. */
export function protocol(annotations: Annotations): Part {
  const name = protocolOf(annotations);
  const path = annotationPath('backend-protocol');
  switch (name) {
    case 'HTTP':
    case 'HTTPS':
      return joinParts([fieldsOnly({ allow_upgrade: ['websocket'] }), verified(annotations)]);
    case 'GRPC':
    case 'GRPCS':
      return joinParts([fieldsOnly({ grpc: true }), verified(annotations)]);
    default:
      return remarksOnly(
        closed(
          path,
          `the gateway does not speak ${name} to services. Put a proxy before the service that speaks HTTP`,
        ),
      );
  }
}

/** nginx believes any certificate of a service unless it is told to check. */
function verified(annotations: Annotations): Part {
  if (!isTls(annotations) || annotations.get('proxy-ssl-verify') === 'on') return NOTHING;
  return remarksOnly(
    changed(
      annotationPath('backend-protocol'),
      'the certificate of the service is checked: it must be for its name, and of an authority that the gateway trusts. Else requests get 503. Name its authority in `ca_secret` of a TLSContext, and its name in `sni`',
    ),
  );
}

/** How TLS is spoken to the service: a TLSContext, and the field that names it. */
export type ServiceTls = Part & { readonly documents: readonly ImportedDocument[] };

/** Returns the TLSContext for the services of an Ingress, when the annotations ask for one. */
export function serviceTls({ annotations, object }: Ingress): ServiceTls {
  const secret = annotations.get('proxy-ssl-secret');
  const sni = annotations.get('proxy-ssl-name');
  if (!isTls(annotations) || (secret === undefined && sni === undefined))
    return { ...lostWords(annotations), documents: [] };
  const name = `${object.name}-to-service`;
  const named = secret === undefined ? undefined : secretName(secret, object.namespace);
  const context = {
    ...(named === undefined ? {} : { secret: named, ca_secret: named }),
    ...(sni === undefined ? {} : { sni }),
  };
  return {
    ...joinParts([fieldsOnly({ tls: name }), lostWords(annotations)]),
    documents: [ourDocument('TLSContext', object, name, context)],
  };
}

function lostWords(annotations: Annotations): Part {
  const words = ['proxy-ssl-ciphers', 'proxy-ssl-protocols', 'proxy-ssl-verify-depth'];
  return remarksOnly(
    ...words
      .filter(name => annotations.get(name) !== undefined)
      .map(name =>
        dropped(
          annotationPath(name),
          'write `cipher_suites` and `min_tls_version` of a TLSContext for the service',
        ),
      ),
  );
}
