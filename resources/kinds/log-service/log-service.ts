import { caution, type Finding, fault } from '#resources/finding.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { serviceIn } from '#resources/words/service.ts';
import { type LogServiceSpec, logServiceSpec } from './log-service-spec.ts';

/** Where the proxies send their access logs, beside their output. */
export const logService: KindDefinition<typeof logServiceSpec> = {
  summary: 'Where the proxies send their access logs, besides their own output.',
  schema: logServiceSpec,
  fieldsAt: 'spec',
  unknownField: 'warning',
  check: spec => [...checkGrpc(spec), ...checkDriver(spec)],
  inNamespace: (spec, namespace) => ({ ...spec, service: serviceIn(spec.service, namespace) }),
};

function checkGrpc({ grpc }: Partial<LogServiceSpec>): readonly Finding[] {
  const message = 'log services are asked by gRPC and nothing else. Write `grpc: true`';
  return grpc === false ? [fault(['grpc'], message)] : [];
}

function checkDriver({ driver, driver_config }: Partial<LogServiceSpec>): readonly Finding[] {
  const headers = driver_config?.additional_log_headers ?? [];
  if (driver === 'http') return [caution(['driver'], QUERIES)];
  if (driver !== 'tcp' || headers.length === 0) return [];
  return [caution(['driver_config', 'additional_log_headers'], NO_HEADERS)];
}

const QUERIES =
  'this service gets the path of each request with its query, which may hold tokens. The driver `opentelemetry` sends no queries';
const NO_HEADERS = 'entries of the driver `tcp` have no headers';
