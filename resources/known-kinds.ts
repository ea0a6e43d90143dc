/** Kinds of Ambassador's family that a user may bring, and that we do not serve, or not yet. */
export const NOT_SERVED: readonly string[] = [
  'AuthService',
  'ConsulResolver',
  'DevPortal',
  'Host',
  'KubernetesEndpointResolver',
  'KubernetesServiceResolver',
  'Listener',
  'LogService',
  'TCPMapping',
  'TLSContext',
  'TracingService',
];
