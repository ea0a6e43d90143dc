import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import { isFields } from '#resources/words/fields.ts';
import { nearest } from '#resources/words/suggest.ts';
import { isOfAnnotations, ofAnnotations } from './envelope.ts';

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
  apiGroups: readonly string[],
  isRead: boolean,
): readonly Unread[] {
  const { apiVersion, metadata } = fields;
  const annotations = isFields(metadata) ? metadata.annotations : undefined;
  const annotated = isFields(annotations) && Object.hasOwn(annotations, ANNOTATION);
  const message = isRead ? undefined : whyUnread(String(apiVersion ?? ''), fields.kind, apiGroups);
  return [
    ...(message === undefined ? [] : [{ ...message, path: ['apiVersion'] }]),
    ...(annotated ? [ANNOTATED] : []),
  ];
}

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
  const meant = group === '' ? undefined : nearest(group, apiGroups);
  if (meant === undefined || apiGroups.includes(group)) return undefined;
  return {
    severity: 'error',
    message: `the group "${group}" is not read, did you mean \`${meant}\`?`,
  };
}

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
