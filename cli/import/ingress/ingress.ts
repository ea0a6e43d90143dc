import type { FieldPath } from '#resources/finding.ts';
import { fieldsAt, listAt, textAt } from '../fields-at.ts';
import type { SourceObject } from '../source-object.ts';
import { type Annotations, annotationsOf, readAnnotations } from './annotations.ts';

/** Where an Ingress sends requests. */
export type Backend = { readonly service: string; readonly port?: number | string };

export type PathType = 'Exact' | 'Prefix' | 'ImplementationSpecific';

/** One path of a rule. */
export type IngressPath = {
  /** `*` where the rule names none. */
  readonly host: string;
  readonly path: string;
  readonly pathType: PathType;
  /** Absent where it is no Service. */
  readonly backend?: Backend;
  readonly at: FieldPath;
};

export type Ingress = {
  readonly object: SourceObject;
  readonly annotations: Annotations;
  /** Absent where none is written. */
  readonly className?: string;
  readonly paths: readonly IngressPath[];
  readonly tls: readonly IngressTls[];
  readonly defaultBackend?: Backend;
  /** When it was made, empty where it is not known. */
  readonly created: string;
};

/** Which hosts a Secret is for. Without hosts it is for all of the rules. */
export type IngressTls = {
  readonly hosts: readonly string[];
  readonly secret?: string;
  readonly at: FieldPath;
};

const GROUPS: readonly string[] = ['networking.k8s.io', 'extensions'];

export function isIngress({ group, kind }: SourceObject): boolean {
  return kind === 'Ingress' && GROUPS.includes(group);
}

/** Reads an Ingress, also of the versions before `v1`. */
export function readIngress(object: SourceObject): Ingress {
  const { metadata, spec: written } = object.fields;
  const spec = fieldsAt(written);
  const className =
    textAt(spec, 'ingressClassName') ?? annotationsOf(object).get('kubernetes.io/ingress.class');
  const defaultBackend = readBackend(spec.defaultBackend ?? spec.backend);
  return {
    object,
    annotations: readAnnotations(object),
    ...(className === undefined ? {} : { className }),
    paths: listAt(spec, 'rules').flatMap(readRule),
    tls: listAt(spec, 'tls').map(readTls),
    ...(defaultBackend === undefined ? {} : { defaultBackend }),
    created: textAt(metadata, 'creationTimestamp') ?? '',
  };
}

function readRule(rule: unknown, at: number): readonly IngressPath[] {
  return listAt(rule, 'http', 'paths').map((item, index): IngressPath => {
    const { backend, pathType } = fieldsAt(item);
    const read = readBackend(backend);
    return {
      host: (textAt(rule, 'host') ?? '*').toLowerCase(),
      path: textAt(item, 'path') ?? '/',
      pathType: pathType === 'Exact' || pathType === 'Prefix' ? pathType : 'ImplementationSpecific',
      ...(read === undefined ? {} : { backend: read }),
      at: ['spec', 'rules', at, 'http', 'paths', index],
    };
  });
}

function readTls(item: unknown, index: number): IngressTls {
  const secret = textAt(item, 'secretName');
  const hosts = listAt(item, 'hosts').filter(host => typeof host === 'string' && host !== '');
  return {
    hosts: hosts.map(host => String(host).toLowerCase()),
    ...(secret === undefined ? {} : { secret }),
    at: ['spec', 'tls', index],
  };
}

function readBackend(written: unknown): Backend | undefined {
  const backend = fieldsAt(written);
  const service = textAt(backend.service, 'name') ?? textAt(backend, 'serviceName');
  if (service === undefined) return undefined;
  const { name, number } = fieldsAt(backend.service, 'port');
  const asked = number ?? name ?? backend.servicePort;
  return {
    service,
    ...(typeof asked === 'number' || typeof asked === 'string' ? { port: asked } : {}),
  };
}
