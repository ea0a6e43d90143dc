import * as z from 'zod';
import { integer } from '#resources/words/number-types.ts';
import { repeats } from '#resources/words/repeats.ts';

/** The priorities of a route and of a limit. Envoy counts each separately. */
export const routingPriority = z.enum(['default', 'high']);

const MOST = 4_294_967_295;

function limit(meaning: string) {
  return integer(0, MOST).exactOptional().describe(`${meaning}. Default: 10000`);
}

const threshold = z.object({
  priority: routingPriority
    .default('default')
    .describe('Of requests of Mappings with this `priority`'),
  max_connections: limit(
    'Connections to the service. Further requests wait for one. `timeout_ms` does not bound that, but `idle_timeout_ms` does',
  ),
  max_pending_requests: limit('Requests that wait for a connection'),
  max_requests: limit('Requests at the same time, by HTTP/2'),
  max_retries: limit('Retries at the same time'),
});

/**
 * Bounds of what a proxy has open to a service. Anything beyond is answered 503, but requests wait
 * for a connection.
 */
export const circuitBreakers = z.array(threshold).check(({ value, issues }) => {
  for (const index of repeats(value.map(({ priority }) => priority))) {
    const message = `there are limits for the priority \`${value[index]?.priority}\` already. Keep one`;
    issues.push({ code: 'custom', message, path: [index, 'priority'], input: value });
  }
});

export type CircuitBreakers = z.output<typeof circuitBreakers>;
