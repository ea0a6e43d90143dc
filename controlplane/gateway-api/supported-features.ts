import type { GatewayOptions } from './gateway-options.ts';

/**
 * Features of Gateway API that are served, sorted. The conformance suite tests these. Source:
 * `pkg/features` of Gateway API v1.7.
 */
export const SUPPORTED_FEATURES: readonly string[] = [
  'BackendTLSPolicy',
  'BackendTLSPolicySANValidation',
  'ClusterTrustBundle',
  'GRPCRoute',
  'GRPCRouteNamedRouteRule',
  'GRPCRouteRequestHeaderModifier',
  'Gateway',
  'GatewayAddressEmpty',
  'GatewayAddressRoutability',
  'GatewayAddressRoutabilityCluster',
  'GatewayBackendClientCertificate',
  'GatewayFrontendClientCertificateValidation',
  'GatewayFrontendClientCertificateValidationInsecureFallback',
  'GatewayHTTPListenerIsolation',
  'GatewayHTTPSListenerDetectMisdirectedRequests',
  'GatewayInfrastructure',
  'GatewayListenerFilters',
  'GatewayPort8080',
  'GatewayRouteHostnameIntersectionPrecedence',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRoute303RedirectStatusCode',
  'HTTPRoute307RedirectStatusCode',
  'HTTPRoute308RedirectStatusCode',
  'HTTPRouteBackendProtocolH2C',
  'HTTPRouteBackendProtocolWebSocket',
  'HTTPRouteBackendRequestHeaderModification',
  'HTTPRouteBackendTimeout',
  'HTTPRouteBackendURLRewrite',
  'HTTPRouteCORS',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestMirror',
  'HTTPRouteRequestMultipleMirrors',
  'HTTPRouteRequestPercentageMirror',
  'HTTPRouteRequestTimeout',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteRetryCodes',
  'HTTPRouteRetryConnectionError',
  'HTTPRouteSchemeRedirect',
  'ListenerSet',
  'ReferenceGrant',
  'TCPRoute',
  'TLSRoute',
  'TLSRouteModeMixed',
  'TLSRouteModeTerminate',
  'UDPRoute',
];

/** Returns those of a GatewayClass. Gateways that share an edge have its address alone. */
export function supportedFeatures({ sharedEdge }: Pick<GatewayOptions, 'sharedEdge'>) {
  return sharedEdge
    ? SUPPORTED_FEATURES.filter(name => !name.startsWith('GatewayAddressRoutability'))
    : SUPPORTED_FEATURES;
}
