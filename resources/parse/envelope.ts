import { caution, type Finding, fault } from '#resources/finding.ts';
import {
  DOCUMENTED_KINDS,
  GATEWAY_API_GROUP,
  GATEWAY_API_VERSIONS,
  isAmbientKind,
  isAmbientVersion,
  isGatewayApiKind,
  isKind,
  NOT_SERVED,
} from '#resources/kinds/known-kinds.ts';
import { RESTRICTIONS } from '#resources/schema/restrictions.ts';
import { isFields } from '#resources/words/fields.ts';
import { nearest, suggest } from '#resources/words/suggest.ts';

export const VERSION = 'v2';

/** The group of documents in annotations of Ambassador's Services, which have no `metadata`. */
const ANNOTATION_GROUP = 'ambassador';

/** What a document says it is. */
export type Envelope = {
  /**
   * The kind in the gateway's spelling, also when the operator's differs slightly. Empty when it is
   * unknown.
   */
  readonly kind: string;
  /** Why it cannot be what it says. Without findings it is a resource of `kind`. */
  readonly findings: readonly Finding[];
};

/** Kinds of Kubernetes itself are no suggestions, since a folder has them for other reasons. */
const KNOWN: readonly string[] = [...DOCUMENTED_KINDS, ...Object.keys(NOT_SERVED)];

const GATEWAY_API_KINDS = KNOWN.filter(isGatewayApiKind);
const OWN_KINDS = KNOWN.filter(kind => !isGatewayApiKind(kind));

/**
 * Reads `apiVersion` and `kind`.
 * @returns undefined when the document is about something else, such as a Deployment or a
 *   ConfigMap. That is no mistake in a folder of Kubernetes manifests
 */
export function readEnvelope(
  fields: Readonly<Record<string, unknown>>,
  apiGroups: readonly string[],
): Envelope | undefined {
  const { apiVersion, kind } = fields;
  if (typeof kind !== 'string' || kind === '') return readWithoutKind(fields, apiGroups);
  if (isAmbientKind(kind))
    return isAmbientVersion(kind, apiVersion) ? { kind, findings: [] } : undefined;
  const known = KNOWN.includes(kind) ? kind : nearest(kind, KNOWN);
  if (typeof apiVersion !== 'string') {
    return known === undefined
      ? undefined
      : refuse(known, 'apiVersion', `\`apiVersion\` is required: ${expected(known, apiGroups)}`);
  }
  const { group, version } = splitApiVersion(apiVersion);
  if (kind === 'Secret' && group === '') return readSecret(version);
  if (group === GATEWAY_API_GROUP) return readGatewayApi(kind, version, apiGroups);
  if (isOfAnnotations(apiVersion) && kind === 'AuthService')
    return refuse(kind, 'apiVersion', ofAnnotations(apiVersion, apiGroups));
  if (!apiGroups.includes(group)) return readForeign(kind, group, apiGroups);
  if (!KNOWN.includes(kind)) return unknownKind(kind, OWN_KINDS);
  if (!isKind(kind)) return unserved(kind);
  if (kind === 'Secret' || isGatewayApiKind(kind) || version !== VERSION) {
    return refuse(
      kind,
      'apiVersion',
      `\`${apiVersion}\` is not read for ${kind}. Write ${expected(kind, apiGroups)}`,
    );
  }
  return { kind, findings: [] };
}

/**
 * Reads a kind of Gateway API in each version that has the shape of `v1`.
 * @returns undefined for a kind of it that is not served
 */
function readGatewayApi(
  kind: string,
  version: string,
  apiGroups: readonly string[],
): Envelope | undefined {
  if (!isGatewayApiKind(kind))
    return nearest(kind, GATEWAY_API_KINDS) === undefined
      ? undefined
      : unknownKind(kind, GATEWAY_API_KINDS);
  const versions: readonly string[] = GATEWAY_API_VERSIONS[kind];
  if (versions.includes(version)) return { kind, findings: [] };
  const written = `\`${GATEWAY_API_GROUP}/${version}\``;
  return refuse(
    kind,
    'apiVersion',
    `${written} is not read for ${kind}. Write ${expected(kind, apiGroups)}`,
  );
}

function unknownKind(kind: string, known: readonly string[]): Envelope {
  const plain = plainKind(kind);
  const message = `unknown kind \`${kind}\`${suggest(plain, known)}`;
  return refuse(nearest(plain, known) ?? '', 'kind', message);
}

/** Emissary 2.0 began with `AmbassadorHost`, `AmbassadorListener` and `AmbassadorMapping`. */
function plainKind(kind: string): string {
  return kind.replace(/^Ambassador(?=(?:Host|Listener|Mapping|TCPMapping)$)/, '');
}

/** Returns whether a document has the form of annotations of Ambassador's Services. */
export function isOfAnnotations(apiVersion: string): boolean {
  return splitApiVersion(apiVersion).group === ANNOTATION_GROUP;
}

/** Says what to write in place of such a document. */
export function ofAnnotations(apiVersion: string, [ours = '']: readonly string[]): string {
  return `\`${apiVersion}\` is not read: write \`${ours}/${VERSION}\`, and \`metadata\` and \`spec\` as docs/reference/kinds.md shows`;
}

function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.lastIndexOf('/');
  return { group: apiVersion.slice(0, Math.max(0, slash)), version: apiVersion.slice(slash + 1) };
}

/** Without a kind it is what it looks like, so that what it may restrict is closed. */
function readWithoutKind(
  fields: Readonly<Record<string, unknown>>,
  apiGroups: readonly string[],
): Envelope | undefined {
  const { group } = splitApiVersion(typeof fields.apiVersion === 'string' ? fields.apiVersion : '');
  const isGatewayApi = group === GATEWAY_API_GROUP;
  if (!isGatewayApi && !apiGroups.includes(group)) return undefined;
  const kinds = isGatewayApi ? GATEWAY_API_KINDS : OWN_KINDS;
  const others = Object.keys(fields).filter(field => field !== 'kind');
  const key = nearest('kind', others) ?? 'kind';
  const names = new Set([fields.kind, fields[key]].flat().filter(isName));
  const [meant] = names.size === 1 ? [...names].map(name => nearest(name, kinds)) : [];
  const message =
    key === 'kind'
      ? `\`kind\` is required: one of ${kinds.filter(isKind).join(', ')}`
      : `unknown field \`${key}\`, did you mean \`kind\`?`;
  const looksLike = !isGatewayApi && namesFilters(fields.spec) ? 'FilterPolicy' : '';
  return refuse(meant ?? looksLike, key, message);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function namesFilters(spec: unknown): boolean {
  if (!isFields(spec)) return false;
  return [spec, spec.rules].flat().some(each => isFields(each) && each.filters !== undefined);
}

function readSecret(version: string): Envelope {
  return version === 'v1'
    ? { kind: 'Secret', findings: [] }
    : refuse('Secret', 'apiVersion', 'a Secret has `apiVersion: v1`');
}

/**
 * Reads a group that is not served. It is a mistake only for a served kind in no group, or in a
 * group that is nearly a served one.
 */
function readForeign(
  written: string,
  group: string,
  apiGroups: readonly string[],
): Envelope | undefined {
  const kind = plainKind(written);
  const groups = isGatewayApiKind(kind) ? [GATEWAY_API_GROUP] : apiGroups;
  const meant = nearest(group, groups);
  if (!KNOWN.includes(kind) || (group !== '' && meant === undefined)) return undefined;
  return refuse(
    kind,
    'apiVersion',
    `the group "${group}" is not read${suggest(group, groups) || `. Write ${expected(kind, apiGroups)}`}`,
  );
}

function expected(kind: string, apiGroups: readonly string[]): string {
  if (kind === 'Secret') return '`v1`';
  if (isGatewayApiKind(kind)) return `\`${GATEWAY_API_GROUP}/v1\``;
  return apiGroups.map(group => `\`${group}/${VERSION}\``).join(' or ');
}

/** A restricting kind is also reported elsewhere, because its effect depends on the Module. */
function unserved(kind: string): Envelope {
  const message = `${kind} is not served: ${NOT_SERVED[kind]}`;
  const restricts = RESTRICTIONS.some(row => row.kind === kind && row.field === undefined);
  return { kind, findings: [(restricts ? caution : fault)(['kind'], message)] };
}

function refuse(kind: string, field: string, message: string): Envelope {
  return { kind, findings: [fault([field], message)] };
}
