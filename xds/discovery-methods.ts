import type { ServiceDefinition } from '@grpc/grpc-js';
import { serviceDefinition } from '#grpc/service.ts';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  EXTENSION_CONFIG,
  LISTENER,
  ROUTE_CONFIGURATION,
  RUNTIME,
  SECRET,
} from '#protos/type-url.ts';
import { MAX_BYTES } from './request-check.ts';

/**
 * Service name, the part of its methods' names after Stream, Delta and Fetch, and the one type that
 * it serves.
 */
export const SERVICES: readonly (readonly [
  service: string,
  methods: string,
  typeUrl: string | undefined,
])[] = [
  ['envoy.service.discovery.v3.AggregatedDiscoveryService', 'AggregatedResources', undefined],
  ['envoy.service.listener.v3.ListenerDiscoveryService', 'Listeners', LISTENER],
  ['envoy.service.route.v3.RouteDiscoveryService', 'Routes', ROUTE_CONFIGURATION],
  ['envoy.service.cluster.v3.ClusterDiscoveryService', 'Clusters', CLUSTER],
  ['envoy.service.endpoint.v3.EndpointDiscoveryService', 'Endpoints', CLUSTER_LOAD_ASSIGNMENT],
  ['envoy.service.secret.v3.SecretDiscoveryService', 'Secrets', SECRET],
  ['envoy.service.runtime.v3.RuntimeDiscoveryService', 'Runtime', RUNTIME],
  [
    'envoy.service.extension.v3.ExtensionConfigDiscoveryService',
    'ExtensionConfigs',
    EXTENSION_CONFIG,
  ],
];

/**
 * What `serve` needs beside the handlers. A request is passed as bytes, and decoded in its turn. It
 * may bring all that its client holds.
 */
export const DISCOVERY = {
  definitions: Object.fromEntries(SERVICES.map(([service]) => [service, definitionOf(service)])),
  options: { 'grpc.max_receive_message_length': MAX_BYTES },
} as const;

function definitionOf(service: string): ServiceDefinition {
  const methods = Object.entries(serviceDefinition(service)).map(([name, method]) => [
    name,
    { ...method, requestDeserialize: (bytes: Buffer) => bytes },
  ]);
  return Object.fromEntries(methods);
}

/** These are served beside what makes their resources. */
const APART: readonly (string | undefined)[] = [undefined, RUNTIME, EXTENSION_CONFIG];

/** The types that configure a proxy. */
export const CONFIGURING: readonly string[] = SERVICES.flatMap(([, , typeUrl]) =>
  typeUrl === undefined || APART.includes(typeUrl) ? [] : [typeUrl],
);
