/** Features of service meshes, which this product is not. */
export const MESH_FEATURES: readonly string[] = [
  'Mesh',
  'MeshClusterIPMatching',
  'MeshConsumerRoute',
  'MeshHTTPRouteBackendRequestHeaderModification',
  'MeshHTTPRouteNamedRouteRule',
  'MeshHTTPRouteQueryParamMatching',
  'MeshHTTPRouteRedirectPath',
  'MeshHTTPRouteRedirectPort',
  'MeshHTTPRouteRewritePath',
  'MeshHTTPRouteSchemeRedirect',
];

/**
 * What every run tells the suite. Its default times are for clouds, where an address takes minutes.
 * A test that fails waits for them, and a test that passes does not. Source: the suite's
 * ConfigurableOptions and TimeoutConfig.
 */
export const SUITE_OPTIONS = {
  mode: 'default',
  enableAllSupportedFeatures: true,
  exemptFeatures: MESH_FEATURES,
  conformanceProfiles: [
    'GATEWAY-HTTP',
    'GATEWAY-GRPC',
    'GATEWAY-TLS',
    'GATEWAY-TCP',
    'GATEWAY-UDP',
  ],
  // The cluster goes away as a whole.
  cleanupBaseResources: false,
  cleanupTestResources: true,
  implementation: {
    organization: 'envoy-gateway-controlplane',
    project: 'envoy-gateway-controlplane',
    url: 'https://example.com',
    version: '0.1.0',
    contact: ['maintainers@example.com'],
  },
  timeoutConfig: {
    gwcMustBeAccepted: '30s',
    gatewayMustHaveAddress: '20s',
    gatewayMustHaveCondition: '20s',
    gatewayStatusMustHaveListeners: '20s',
    gatewayListenersMustHaveConditions: '20s',
    listenerSetMustHaveCondition: '20s',
    listenerSetListenersMustHaveConditions: '20s',
    httpRouteMustNotHaveParents: '20s',
    httpRouteMustHaveCondition: '20s',
    tlsRouteMustHaveCondition: '20s',
    tcpRouteMustHaveCondition: '20s',
    udpRouteMustHaveCondition: '20s',
    routeMustHaveParents: '20s',
    maxTimeToConsistency: '20s',
    namespacesMustBeReady: '180s',
    latestObservedGenerationSet: '20s',
    defaultTestTimeout: '20s',
  },
};
