import * as z from 'zod';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { positiveMilliseconds } from '#resources/words/number-types.ts';
import { service, serviceIn } from '#resources/words/service.ts';
import { statsName } from '#resources/words/stats-name.ts';

const schema = z.object({
  service: service.describe(
    'The rate limit service, which speaks `envoy.service.ratelimit.v3` (gRPC)',
  ),
  domain: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      "The only label domain that is sent to it. Default: the Module's `default_label_domain`",
    ),
  timeout_ms: positiveMilliseconds
    .default(20)
    .describe('Time for its answer. The built-in service has 200'),
  failure_mode_deny: falseByDefault.describe(
    'Without an answer: refuse the request instead of letting it pass',
  ),
  tls: falseByDefault.describe('Connect by TLS. Also when `service` begins with `https://`'),
  protocol_version: z
    .enum(['v2', 'v3'])
    .exactOptional()
    .meta({
      odd: (text: string) => (text === 'v2' ? 'the service is asked by `v3` alone' : undefined),
    })
    .describe("Ambassador's. Version 3 is Envoy's only one"),
  stats_name: statsName,
  gateway_id: gatewayId,
});

/** The service that the edge asks for rate limits. Without one, the built-in service is asked. */
export const rateLimitService: KindDefinition<typeof schema> = {
  summary: 'Which rate limit service the edge asks, instead of the built-in one.',
  schema,
  fieldsAt: 'spec',
  unknownField: 'warning',
  restricting: ['domain', 'failure_mode_deny'],
  inNamespace: (spec, namespace) => ({ ...spec, service: serviceIn(spec.service, namespace) }),
};

export type RateLimitServiceSpec = z.output<typeof schema>;
