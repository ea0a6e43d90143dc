import { editDistance } from '#resources/words/suggest.ts';
import type { Environment } from './environment.ts';

/** The variables of all our processes (docs/reference/environment.md). */
export const VARIABLES: readonly string[] = `
ADDRESS ALLOW_KNOWN_PASSWORDS API_GROUPS AUTHORITY_SECRET CA_FILE CERTIFICATE_FILES
CERTIFICATE_LIFETIME CONSOLE CONSOLE_AUDIENCE CONSOLE_ISSUER CONSOLE_OPERATORS CONSOLE_TOKEN
CONSOLE_VIEWERS COUNTERS_REDIS_URL DATABASE_FILE DATABASE_URL DNS_MAX_TTL_SECONDS DNS_SERVERS
EDGES_KUBERNETES EDGE_ADDRESS EDGE_FIXED_USER EDGE_HTTPS_PORT EDGE_IMAGE EDGE_PULL_SECRETS
EDGE_TLS_ADDRESS EDGE_XDS_ADDRESS ENVOY_BIN
EXT_AUTHZ_ADDRESS FIGURES GATEWAY_CONTROLLER GATEWAY_EDGES GATEWAY_ID GATEWAY_ORIGINS HOP_TLS HOST
HTTP_ADDRESS IDENTITIES IDENTITY_FOLDER IDENTITY_SECRETS INSTANCES_FILE INSTANCES_KUBERNETES
INSTANCE_ADDRESS INSTANCE_NAME ISSUER KUBECONFIG LOG_LEVEL MAX_COUNTERS OTEL_BSP_EXPORT_TIMEOUT
OTEL_BSP_MAX_EXPORT_BATCH_SIZE OTEL_BSP_MAX_QUEUE_SIZE OTEL_BSP_SCHEDULE_DELAY
OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_KEY
OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS
OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
OTEL_PROPAGATORS OTEL_RESOURCE_ATTRIBUTES OTEL_SDK_DISABLED OTEL_SERVICE_NAME OTEL_TRACES_EXPORTER
OTEL_TRACES_SAMPLER OTEL_TRACES_SAMPLER_ARG PORT RATELIMIT_ADDRESS REDIS_CA_FILE REDIS_CERT_FILE
REDIS_KEY_FILE REDIS_PASSWORD REDIS_PASSWORD_FILE REDIS_SENTINEL_PASSWORD
REDIS_SENTINEL_PASSWORD_FILE REDIS_URL REDIS_USERNAME REPORT_ADDRESSES RESOURCES
RESOURCES_KUBERNETES ROOT_LIFETIME SDS_ADDRESS SECRET_FILES SECRET_VARIABLES SERVES STATE STORE_KEY
STORE_KEY_FILE STORE_TIMEOUT_MS TLS_FOLDER TRUST_DOMAIN WORKERS XDS_ADDRESS XDS_PLAINTEXT_SECRETS
`
  .trim()
  .split(/\s+/);

/** Short names are near to those of other programs. */
const SHORTEST = 6;

/**
 * Returns a sentence for each variable that is none of ours and one letter away from one that is
 * not set. It has no value in it. A variable that nothing reads may be one that was to restrict
 * something, as `HOP_TLS` does.
 */
export function misspeltVariables(env: Environment): readonly string[] {
  const own = new Set(VARIABLES);
  const unset = VARIABLES.filter(name => name.length >= SHORTEST && env[name] === undefined);
  return Object.keys(env).flatMap(name => {
    if (own.has(name)) return [];
    const meant = unset.find(candidate => isNear(name.toUpperCase(), candidate));
    return meant === undefined ? [] : [`nothing reads the variable ${name}. Is ${meant} meant?`];
  });
}

/** Whether one letter was inserted, left out or replaced, or two neighbours changed places. */
function isNear(word: string, other: string): boolean {
  return Math.abs(word.length - other.length) <= 1 && editDistance(word, other) <= 1;
}
