import { SUPPORTED_FEATURES } from '#controlplane/gateway-api/supported-features.ts';

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
  supportedFeatures: SUPPORTED_FEATURES,
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
    organization: 'tollwright',
    project: 'tollwright',
    url: 'https://example.com',
    version: '0.1.0',
    contact: ['maintainers@example.com'],
  },
  timeoutConfig: {
    gwcMustBeAccepted: '120s',
    gatewayMustHaveAddress: '60s',
    gatewayMustHaveCondition: '60s',
    gatewayStatusMustHaveListeners: '60s',
    gatewayListenersMustHaveConditions: '60s',
    listenerSetMustHaveCondition: '60s',
    listenerSetListenersMustHaveConditions: '60s',
    httpRouteMustNotHaveParents: '60s',
    httpRouteMustHaveCondition: '60s',
    tlsRouteMustHaveCondition: '60s',
    tcpRouteMustHaveCondition: '60s',
    udpRouteMustHaveCondition: '60s',
    routeMustHaveParents: '60s',
    maxTimeToConsistency: '60s',
    namespacesMustBeReady: '180s',
    latestObservedGenerationSet: '60s',
    defaultTestTimeout: '60s',
  },
};
