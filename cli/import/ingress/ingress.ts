import type { FieldPath } from '#resources/finding.ts';
import { type Fields, isFields } from '#resources/words/fields.ts';
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
  const spec = fieldsOf(object.fields.spec);
  const metadata = fieldsOf(object.fields.metadata);
  const className =
    textOf(spec.ingressClassName) ?? annotationsOf(object).get('kubernetes.io/ingress.class');
  const defaultBackend = readBackend(spec.defaultBackend ?? spec.backend);
  return {
    object,
    annotations: readAnnotations(object),
    ...(className === undefined ? {} : { className }),
    paths: listOf(spec.rules).flatMap((rule, index) => readRule(fieldsOf(rule), index)),
    tls: listOf(spec.tls).map((item, index) => readTls(fieldsOf(item), index)),
    ...(defaultBackend === undefined ? {} : { defaultBackend }),
    created: textOf(metadata.creationTimestamp) ?? '',
  };
}

function readRule({ host, http }: Fields, rule: number): readonly IngressPath[] {
  return listOf(fieldsOf(http).paths).map((item, index): IngressPath => {
    const { backend, path, pathType } = fieldsOf(item);
    const read = readBackend(backend);
    return {
      host: (textOf(host) ?? '*').toLowerCase(),
      path: textOf(path) ?? '/',
      pathType: pathType === 'Exact' || pathType === 'Prefix' ? pathType : 'ImplementationSpecific',
      ...(read === undefined ? {} : { backend: read }),
      at: ['spec', 'rules', rule, 'http', 'paths', index],
    };
  });
}

function readTls({ hosts, secretName }: Fields, index: number): IngressTls {
  const secret = textOf(secretName);
  return {
    hosts: listOf(hosts).flatMap(host => textOf(host)?.toLowerCase() ?? []),
    ...(secret === undefined ? {} : { secret }),
    at: ['spec', 'tls', index],
  };
}

function readBackend(written: unknown): Backend | undefined {
  const backend = fieldsOf(written);
  const { name, port } = fieldsOf(backend.service);
  const service = textOf(name) ?? textOf(backend.serviceName);
  if (service === undefined) return undefined;
  const { name: portName, number } = fieldsOf(port);
  const asked = number ?? portName ?? backend.servicePort;
  return {
    service,
    ...(typeof asked === 'number' || typeof asked === 'string' ? { port: asked } : {}),
  };
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
