import type { ExternalStage } from '#controlplane/gateway-api/served-gateway.ts';
import type { JsonObject } from '#protos/json.ts';
import { extension } from '../extension.ts';
import { backendClusterName } from './backend-cluster-name.ts';

const TIMEOUT = '5s';

/**
 * Returns Envoy's external authorization filter for a service of the operator. It is closed: when
 * the service is down, late or answers 5xx, the client gets 503. Source: Gateway API's comments of
 * `HTTPExternalAuthFilter`.
 */
export function externalAuthFilter(name: string, stage: ExternalStage): JsonObject {
  const { forwardBody, grpc, http } = stage.external;
  const allowed = (grpc ?? http)?.allowedHeaders ?? [];
  const maxSize = forwardBody?.maxSize ?? 0;
  return {
    name,
    disabled: true,
    typed_config: extension('filters.http.ext_authz.v3.ExtAuthz', {
      transport_api_version: 'V3',
      ...(grpc === undefined ? { http_service: httpService(stage) } : grpcService(stage)),
      failure_mode_allow: false,
      status_on_error: { code: 'ServiceUnavailable' },
      validate_mutations: true,
      ...(allowed.length === 0 ? {} : { allowed_headers: exactly(allowed) }),
      ...(maxSize === 0 ? {} : { with_request_body: { max_request_bytes: maxSize } }),
      decoder_header_mutation_rules: {
        disallow_system: true,
        disallow_expression: { regex: NOT_SET },
      },
    }),
  };
}

/** The cluster of the service that a stage asks. */
export function externalCarried({ external }: ExternalStage): 'grpc' | 'http' {
  return external.protocol === 'GRPC' ? 'grpc' : 'http';
}

/** Returns the headers, in lower case, that only the service may set. It reads others itself. */
export function setByService({ external: { http } }: ExternalStage): readonly string[] {
  const lower = (names: readonly string[]) => names.map(name => name.toLowerCase());
  const read = new Set([...ALWAYS_READ, ...lower(http?.allowedHeaders ?? [])]);
  return lower(http?.allowedResponseHeaders ?? []).filter(name => isName(name) && !read.has(name));
}

const ALWAYS_READ = ['authorization', 'content-length', 'cookie', 'host'];

function isName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name);
}

/**
 * What an answer says of itself and of its connection is not for the request (RFC 9110, sections
 * 7.6.1 and 8). Nor is what only the gateway sets.
 */
const NOT_SET =
  '(?i)^(?:host|connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|content-.*|date|server|x-gateway-.*)$';

function grpcService(stage: ExternalStage): JsonObject {
  const cluster_name = backendClusterName(stage.target, 'grpc');
  return {
    grpc_service: {
      envoy_grpc: { cluster_name, authority: authorityOf(stage) },
      timeout: TIMEOUT,
    },
  };
}

function httpService(stage: ExternalStage): JsonObject {
  const { allowedResponseHeaders = [], path = '' } = stage.external.http ?? {};
  const path_prefix = new URL(`http://host/${path}`).pathname
    .replaceAll(/\/+/g, '/')
    .replace(/\/$/, '');
  return {
    server_uri: {
      uri: `http://${authorityOf(stage)}`,
      cluster: backendClusterName(stage.target, 'http'),
      timeout: TIMEOUT,
    },
    ...(path_prefix === '' ? {} : { path_prefix }),
    authorization_response: {
      allowed_upstream_headers:
        allowedResponseHeaders.length === 0
          ? { patterns: [{ safe_regex: { regex: '.+' } }] }
          : exactly(allowedResponseHeaders),
    },
  };
}

function authorityOf({ target: { name, namespace, tls } }: ExternalStage): string {
  return tls === undefined || tls === 'closed' ? `${name}.${namespace}` : tls.hostname;
}

function exactly(names: readonly string[]): JsonObject {
  return { patterns: names.map(exact => ({ exact, ignore_case: true })) };
}
