/** Which documents are ours. */
export type ParseOptions = {
  /** Groups of `apiVersion` that are read, the one to recommend first. */
  readonly apiGroups: readonly string[];
  /** Resources for other gateways are left alone. */
  readonly gatewayId: string;
};

export const DEFAULT_PARSE_OPTIONS: ParseOptions = {
  apiGroups: ['gateway.internal', 'getambassador.io'],
  gatewayId: 'default',
};
