import type * as z from 'zod';
import type { Finding } from '#resources/finding.ts';

/**
 * What the operator may write under one `kind`: one declarative schema, from which come the parser,
 * the suggestions, the TypeScript type, the page in docs/reference/kinds and the CRD, and in
 * `check` what a schema cannot say.
 */
export type KindDefinition<Schema extends z.ZodObject = z.ZodObject> = {
  /** One sentence for its page. */
  readonly summary: string;
  readonly schema: Schema;
  /** Where the fields stand: below `spec`, or (a Secret) at the top of the document. */
  readonly fieldsAt: 'spec' | 'document';
  readonly unknownField: 'error' | 'warning';
  /**
   * Fields without which more would be served, such as `tls.cert_required`. What may be a
   * misspelling of one is not ignored: it closes what the resource covers.
   */
  readonly restricting?: readonly string[];
  /**
   * Why a field that the schema does not know may not be ignored, or undefined: it may. One further
   * down comes as `tls.crl_secret`.
   */
  readonly refuseField?: (field: string, value: unknown) => string | undefined;
  /**
   * The names that the resource may have, when the kind fixes them: its own first, then accepted
   * aliases.
   */
  readonly names?: readonly string[];
  /** One in force for each gateway. */
  readonly singleton?: boolean;
  /** Rules between the fields of a spec. Those that are not right by themselves are missing. */
  readonly check?: (spec: Partial<z.output<Schema>>) => readonly Finding[];
  /** What the spec means in the namespace that the resource names. Absent: the same in all. */
  readonly inNamespace?: (spec: z.output<Schema>, namespace: string) => z.output<Schema>;
};
