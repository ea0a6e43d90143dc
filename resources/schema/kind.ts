import type * as z from 'zod';
import type { Finding } from '#resources/finding.ts';

/** What a resource may carry of the `metadata` of its document. */
export type MetadataFact = 'generation' | 'created' | 'labels';

/**
 * What the operator may write under one `kind`. One declarative schema yields the parser, the
 * suggestions, the TypeScript type, the page in docs/reference/kinds and the CRD. `check` holds
 * what a schema cannot say.
 */
export type KindDefinition<Schema extends z.ZodObject = z.ZodObject> = {
  /** One sentence for its page. */
  readonly summary: string;
  readonly schema: Schema;
  /** Where the fields stand: below `spec`, or (for a Secret) at the top of the document. */
  readonly fieldsAt: 'spec' | 'document';
  readonly unknownField: 'error' | 'warning';
  /** Absent when its objects stand in a namespace. */
  readonly scope?: 'Namespaced' | 'Cluster';
  /** Facts of `metadata` that a resource carries, since they have a meaning. Default: none. */
  readonly metadata?: readonly MetadataFact[];
  /**
   * A kind of Kubernetes that stands in folders for other reasons. A document with an error is not
   * read, which is a warning beside resources of Gateway API.
   */
  readonly ambient?: boolean;
  /**
   * Fields that restrict access, such as `tls.cert_required`. A possible misspelling of one is not
   * ignored. It closes what the resource covers.
   */
  readonly restricting?: readonly string[];
  /**
   * Returns why a field that the schema does not know must not be ignored. A nested field comes as
   * `tls.crl_secret`.
   * @returns undefined when it may be ignored
   */
  readonly refuseField?: (field: string, value: unknown) => string | undefined;
  /** What to write in place of fields of other products. Each is unknown, wherever it stands. */
  readonly foreignFields?: ReadonlyMap<string, string>;
  /**
   * Checks the rules between the fields of a spec. Fields that are wrong by themselves are missing.
   */
  readonly check?: (spec: Partial<z.output<Schema>>) => readonly Finding[];
  /** Returns what the spec means in the resource's namespace. Absent when it is the same in all. */
  readonly inNamespace?: (spec: z.output<Schema>, namespace: string) => z.output<Schema>;
  /** Returns what the spec means in a resource of this name. Absent when it is the same in all. */
  readonly named?: (
    spec: z.output<Schema>,
    resource: { readonly namespace: string; readonly name: string },
  ) => z.output<Schema>;
};
