import type { ListenerSettings } from './listener-settings.ts';

/** Hop-by-hop fields, and fields for messages between Envoys. [measured on Envoy 1.40] */
const DROPPED: ReadonlySet<string> = new Set([
  'keep-alive',
  'proxy-connection',
  'x-envoy-expected-rq-timeout-ms',
  'x-envoy-force-trace',
  'x-envoy-hedge-on-per-try-timeout',
  'x-envoy-internal',
  'x-envoy-ip-tags',
  'x-envoy-max-retries',
  'x-envoy-original-url',
  'x-envoy-retriable-header-names',
  'x-envoy-retriable-status-codes',
  'x-envoy-retry-grpc-on',
  'x-envoy-retry-on',
  'x-envoy-upstream-alt-stat-name',
  'x-envoy-upstream-rq-per-try-timeout-ms',
  'x-envoy-upstream-rq-timeout-alt-response',
  'x-envoy-upstream-rq-timeout-ms',
  'x-envoy-upstream-stream-duration-ms',
]);

/** Fields that are trusted from a proxy in front, but from no client. [measured on Envoy 1.40] */
const DROPPED_FROM_CLIENTS: ReadonlySet<string> = new Set([
  'x-envoy-decorator-operation',
  'x-envoy-downstream-service-cluster',
  'x-envoy-downstream-service-node',
  'x-envoy-original-host',
]);

/**
 * Returns whether routes and filters see nothing of this header when a client sends it. `name` is
 * in lower case.
 */
export function isDropped(
  name: string,
  {
    removedHeaders,
    use_remote_address,
  }: Pick<ListenerSettings, 'removedHeaders' | 'use_remote_address'>,
): boolean {
  if (DROPPED.has(name) || removedHeaders.has(name)) return true;
  return use_remote_address && DROPPED_FROM_CLIENTS.has(name);
}
