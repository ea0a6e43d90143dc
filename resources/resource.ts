import type { Kind, SpecOf } from '#resources/kinds/kinds.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import type { Unserved } from '#resources/schema/restrictions.ts';

/**
 * The lines of a resource's fields, to find a field that turns out wrong beside other resources.
 * One text, since there may be 100,000 resources: `<lines after its first> <field>`, a line each.
 * A field on the line of the field above it is left out.
 */
export type FieldLines = string;

/** Where a resource begins; `line` counts from 1, 0: it is in no file, and `file` is the place. */
export type Source = { readonly file: string; readonly line: number };

/** `routes.yaml:3`, or the place of what is in no file. */
export function formatSource({ file, line }: Source): string {
  return file === '' || line === 0 ? file : `${file}:${line}`;
}

type ResourceOf<K extends Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
  /** `Mapping/default/user`: unique among the resources in force. */
  readonly id: string;
  readonly source: Source;
  /**
   * Of what the spec means, not of its file, line or spelling. For comparing in memory only: it
   * covers secrets.
   */
  readonly hash: string;
  readonly spec: SpecOf<K>;
  /** Where its fields stand. Absent: it is in no file. */
  readonly fieldLines?: FieldLines;
  /** Restrictions that it asks for and that are not served; absent: none. */
  readonly unserved?: readonly Unserved[];
  /**
   * The whole document as it was written, to be kept and parsed again; never one that holds a
   * secret.
   */
  readonly document?: Readonly<Record<string, unknown>>;
};

/**
 * One resource without error. `Resource` alone is the union over the kinds, told apart by `kind`.
 */
export type Resource<K extends Kind = Kind> = K extends Kind ? ResourceOf<K> : never;

/** What a rule of a refused FilterPolicy covers, as far as it could be read. */
export type ReadableRule = { readonly host?: string; readonly path?: string };

/**
 * A resource with an error: left out, but known by name, so that its last good version can stay in
 * force.
 */
export type Refused = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly id: string;
  readonly source: Source;
  /**
   * A Mapping whose match is right: its requests are answered 500 rather than fall through to a
   * wider prefix.
   */
  readonly match?: MappingMatch;
  /**
   * A FilterPolicy: what its rules cover. Absent when nothing of them could be read: any host and
   * path then.
   */
  readonly rules?: readonly ReadableRule[];
  /**
   * A Host: its hostname; a TLSContext: the Hosts that it is for. Absent when that could not be
   * read.
   */
  readonly hosts?: readonly string[];
  /** A Filter: the request headers that it would inject, as far as they could be read. */
  readonly injects?: readonly string[];
  /** Restrictions that it asks for and that are not served; absent: none. */
  readonly unserved?: readonly Unserved[];
};

export function resourceId(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
