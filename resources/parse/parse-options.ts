import type { Kind } from '#resources/kinds/known-kinds.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';

/** Decides which documents this gateway reads. */
export type ParseOptions = {
  /** Groups of `apiVersion` that are read, the recommended one first. */
  readonly apiGroups: readonly string[];
  /** The id of this gateway. Resources for other gateways are ignored. */
  readonly gatewayId: string;
};

/** What the parser knows of the operator's language. */
export type Language = ParseOptions & {
  readonly kinds: Readonly<Record<Kind, KindDefinition>>;
};

export const DEFAULT_PARSE_OPTIONS: ParseOptions = {
  apiGroups: ['gateway.internal', 'getambassador.io'],
  gatewayId: 'default',
};
