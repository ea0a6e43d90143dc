/** Kinds of Ambassador's family that a user may bring, and that we do not serve, or not yet. */
export const NOT_SERVED: readonly string[] = [
  'AuthService',
  'ConsulResolver',
  'DevPortal',
  'KubernetesEndpointResolver',
  'KubernetesServiceResolver',
  'Listener',
  'LogService',
  'TCPMapping',
  'TracingService',
];
