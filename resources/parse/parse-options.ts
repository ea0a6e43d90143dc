/** Decides which documents this gateway reads. */
export type ParseOptions = {
  /** Groups of `apiVersion` that are read, the recommended one first. */
  readonly apiGroups: readonly string[];
  /** The id of this gateway. Resources for other gateways are ignored. */
  readonly gatewayId: string;
};

export const DEFAULT_PARSE_OPTIONS: ParseOptions = {
  apiGroups: ['gateway.internal', 'getambassador.io'],
  gatewayId: 'default',
};
