import { type FieldPath, formatPath } from '#resources/finding.ts';
import type { SourceObject } from './source-object.ts';

/**
 * What became of something that could not be taken over as it is. `closed` is answered 500 until
 * the operator writes the protection, `dropped` has no effect any more, and `changed` means
 * something else.
 */
export type Effect = 'closed' | 'dropped' | 'changed';

/** What could not be taken over of one object: where it stands, why, and what to do. */
export type Remark = {
  readonly effect: Effect;
  readonly path: FieldPath;
  readonly message: string;
};

/** A Remark and the object that it is about. */
export type PlacedRemark = Remark & { readonly object: SourceObject };

export function closed(path: FieldPath, message: string): Remark {
  return { effect: 'closed', path, message };
}

export function dropped(path: FieldPath, message: string): Remark {
  return { effect: 'dropped', path, message };
}

export function changed(path: FieldPath, message: string): Remark {
  return { effect: 'changed', path, message };
}

/** Formats one line: `closed: Ingress default/shop (shop.yaml:8, spec.rules[0]): …`. */
export function describeRemark({ effect, message, object, path }: PlacedRemark): string {
  const { file, kind, lineOf, name, namespace = 'default' } = object;
  const place = `${file}:${lineOf(path)}, ${formatField(path)}`;
  return `${effect}: ${kind} ${namespace}/${name} (${place}): ${oneLine(message)}`;
}

/** An annotation has a name that is found in documents and on the web, so it stands alone. */
function formatField(path: FieldPath): string {
  return path[1] === 'annotations' ? String(path[2]) : formatPath(path);
}

const LONGEST = 1_000;

function oneLine(text: string): string {
  return text.slice(0, LONGEST).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
