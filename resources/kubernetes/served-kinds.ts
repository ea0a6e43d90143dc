import {
  type AmbientKind,
  type GatewayApiKind,
  isAmbientKind,
  isGatewayApiKind,
  KIND_NAMES,
  type Kind,
} from '#resources/kinds/known-kinds.ts';

/**
 * The kinds that are objects of the gateway's own group in Kubernetes. Others are Kubernetes' own
 * or Gateway API's.
 */
export type ServedKind = Exclude<Kind, 'Secret' | AmbientKind | GatewayApiKind>;

export const SERVED_KINDS: readonly ServedKind[] = KIND_NAMES.filter(
  (kind): kind is ServedKind =>
    kind !== 'Secret' && !isAmbientKind(kind) && !isGatewayApiKind(kind),
);

export function isServedKind(kind: string): kind is ServedKind {
  return (SERVED_KINDS as readonly string[]).includes(kind);
}

/** Short names that do not follow from the capitals. */
const SHORT_NAMES: Readonly<Record<string, string>> = { Module: 'gwmod', TLSContext: 'gwtls' };

/**
 * The names of a kind in Kubernetes' API: `filterpolicies`, `filterpolicy`, and `gwfp` for short.
 */
export type KindNames = {
  readonly plural: string;
  readonly singular: string;
  readonly short: string;
};

export function kindNames(kind: ServedKind): KindNames {
  const singular = kind.toLowerCase();
  return {
    singular,
    plural: pluralOf(singular),
    short: SHORT_NAMES[kind] ?? `gw${capitalsOf(kind)}`,
  };
}

function pluralOf(word: string): string {
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`;
}

function capitalsOf(kind: string): string {
  return kind.replace(/[^A-Z]/g, '').toLowerCase();
}
