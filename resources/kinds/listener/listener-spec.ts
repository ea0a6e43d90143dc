import * as z from 'zod';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer } from '#resources/words/number-types.ts';
import { statsPrefix } from '#resources/words/stats-name.ts';
import { labelSelector } from '../gateway-api/label-selector.ts';
import { portNumber } from '../gateway-api/names.ts';
import { checkRules } from '../gateway-api/rules.ts';

const hostBinding = z.object({
  namespace: z
    .object({
      from: z
        .enum(['SELF', 'ALL'])
        .default('SELF')
        .meta({ anyCase: true })
        .describe("Hosts of the Listener's namespace, or of every one"),
    })
    .prefault({})
    .describe('Namespaces of the Hosts'),
  selector: labelSelector.exactOptional().describe('Labels that the Hosts must have too'),
});

const fields = z.object({
  port: portNumber.describe('TCP port'),
  protocol: z
    .enum(['HTTP', 'HTTPS', 'HTTPPROXY', 'HTTPSPROXY'])
    .exactOptional()
    .meta({ anyCase: true })
    .describe(
      '`HTTP`: without TLS. `HTTPS`: with TLS and without, as each connection begins. With `PROXY` each connection begins with a header of the PROXY protocol',
    ),
  protocolStack: z
    .array(z.enum(['HTTP', 'PROXY', 'TLS', 'TCP']).meta({ anyCase: true }))
    .min(1)
    .max(4)
    .exactOptional()
    .meta({ form: 'a list of at most 4 protocols' })
    .describe('The same, layer by layer: `[HTTP, TCP]` or `[TLS, HTTP, TCP]`, and `PROXY`'),
  securityModel: z
    .enum(['XFP', 'SECURE', 'INSECURE'])
    .meta({ anyCase: true })
    .describe(
      'Which requests came by https, for `requestPolicy` of Hosts. `XFP`: those whose `X-Forwarded-Proto` says so, which is the connection, or what a trusted proxy says. `SECURE`: all. `INSECURE`: none',
    ),
  hostBinding: hostBinding.describe('The Hosts that are reached at the port'),
  l7Depth: integer(0, 4_294_967_295, 'an integer from 0')
    .exactOptional()
    .describe(
      "Proxies in front of the port whose `X-Forwarded-*` headers are trusted. Default: the Module's `xff_num_trusted_hops`",
    ),
  statsPrefix: statsPrefix
    .exactOptional()
    .describe("Name of the listener in Envoy's statistics. Default: its address"),
  gateway_id: gatewayId,
});

export const listenerSpec = fields.check(
  checkRules(({ protocol, protocolStack }) =>
    protocol === undefined && protocolStack === undefined
      ? [{ path: ['protocol'], message: 'a Listener needs `protocol`' }]
      : [],
  ),
);

export type EdgeListenerSpec = z.output<typeof listenerSpec>;
