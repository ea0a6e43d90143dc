import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { isFields } from '#resources/words/fields.ts';
import { gatewayIdsOf } from '#resources/words/gateway-id.ts';
import { nearest } from '#resources/words/suggest.ts';
import { isOfAnnotations, ofAnnotations, readEnvelope } from './envelope.ts';
import type { ParseOptions } from './parse-options.ts';

type Fields = Readonly<Record<string, unknown>>;
type Unread = Pick<Problem, 'severity' | 'message'> & { readonly path: readonly string[] };

const ANNOTATION = 'getambassador.io/config';

/**
 * Reports what a document says about traffic in a form that is not read here. Nothing is reported
 * for what is about something else, such as a Deployment or a Service. `isRead` means that the
 * document itself is read.
 */
export function unreadParts(
  fields: Fields,
  { apiGroups, gatewayId }: ParseOptions,
  isRead: boolean,
): readonly Unread[] {
  const { apiVersion, metadata } = fields;
  const annotations = isFields(metadata) ? metadata.annotations : undefined;
  const annotated = isFields(annotations) && Object.hasOwn(annotations, ANNOTATION);
  const message = isRead ? undefined : whyUnread(String(apiVersion ?? ''), fields.kind, apiGroups);
  return [
    ...(message === undefined ? [] : [{ ...message, path: ['apiVersion'] }]),
    ...(isRead || readEnvelope(fields, apiGroups) === undefined
      ? []
      : inOtherCase(fields.spec, gatewayId)),
    ...(annotated ? [ANNOTATED] : []),
  ];
}

/** A name that differs from this gateway's in letter case alone is hardly that of another one. */
function inOtherCase(spec: unknown, gatewayId: string): readonly Unread[] {
  if (!isFields(spec)) return [];
  const id = gatewayIdsOf(spec)?.find(name => name.toLowerCase() === gatewayId.toLowerCase());
  if (id === undefined) return [];
  const field = Object.keys(spec).find(key => ID_FIELD.test(key)) ?? 'gateway_id';
  const message = `this is for the gateway "${id}", and ignored by "${gatewayId}". Letter case counts`;
  return [{ severity: 'warning', message, path: ['spec', field] }];
}

const ID_FIELD = /^(?:gateway_id|ambassador_?id)$/i;

const ANNOTATED: Unread = {
  severity: 'warning',
  message: `the annotation \`${ANNOTATION}\` is not read: write what it holds as documents of their own`,
  path: ['metadata', 'annotations', ANNOTATION],
};

const INGRESS_GROUPS: readonly string[] = ['networking.k8s.io', 'extensions'];

function whyUnread(
  apiVersion: string,
  kind: unknown,
  apiGroups: readonly string[],
): Omit<Unread, 'path'> | undefined {
  if (isOfAnnotations(apiVersion))
    return { severity: 'error', message: ofAnnotations(apiVersion, apiGroups) };
  const group = apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/')));
  if (kind === 'Ingress' && INGRESS_GROUPS.includes(group))
    return { severity: 'warning', message: 'an Ingress is not read: write a Mapping' };
  if (group === GATEWAY_API_GROUP)
    return {
      severity: 'warning',
      message: `${kind} of Gateway API is not read: it has no effect here`,
    };
  if (group === '' || apiGroups.includes(group)) return undefined;
  const meant = nearest(group, apiGroups);
  const unread = `the group "${group}" is not read`;
  if (meant !== undefined)
    return { severity: 'error', message: `${unread}, did you mean \`${meant}\`?` };
  if (!OURS_ALONE.includes(String(kind))) return undefined;
  const remedy = `Write \`${apiGroups[0]}\`, or list that group in API_GROUPS`;
  return { severity: 'warning', message: `${unread}: this ${kind} has no effect here. ${remedy}` };
}

/** Kinds that no other API is known to have. */
const OURS_ALONE: readonly string[] = [
  'AuthService',
  'FilterPolicy',
  'Mapping',
  'RateLimitService',
  'TLSContext',
];

/**
 * Keeps the first of equal Problems of one file, which several documents without a resource may
 * have.
 */
export function onceAFile(problems: readonly Problem[]): readonly Problem[] {
  const said = new Set<string>();
  return problems.filter(({ field, kind, message }) => {
    if (kind !== '' || field === undefined) return true;
    const isNew = !said.has(message);
    said.add(message);
    return isNew;
  });
}
