import * as z from 'zod';
import { labels } from '#resources/labels/labels.ts';
import { allowUpgrade } from '#resources/traffic/allow-upgrade.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer, milliseconds, positiveMilliseconds } from '#resources/words/number-types.ts';
import { service } from '#resources/words/service.ts';
import { errorResponseOverrides } from '../module/error-response-overrides.ts';
import { mappingHeadersShape } from './mapping-headers.ts';
import { mappingMatchShape } from './mapping-match.ts';
import { mappingRedirectShape } from './mapping-redirect.ts';
import { mappingRewriteShape } from './mapping-rewrite.ts';
import { mappingTls } from './mapping-tls.ts';
import { mappingTrafficShape } from './mapping-traffic.ts';

const RESOLVERS = {
  dns: 'dns',
  sds: 'sds',
  'kubernetes-service': 'dns',
  endpoint: 'sds',
  'kubernetes-endpoint': 'sds',
} as const;

const resolver = z
  .enum(['dns', 'sds', 'kubernetes-service', 'endpoint', 'kubernetes-endpoint'])
  .transform(name => RESOLVERS[name]);

export const mappingSpec = z.object({
  ...mappingMatchShape,
  service: service.describe(
    'Where requests go, `name[.namespace][:port]`: a name without a dot is in the namespace that the Mapping names. With `host_redirect`: where clients are sent',
  ),
  ...mappingRedirectShape,
  ...mappingRewriteShape,
  ...mappingHeadersShape,
  timeout_ms: milliseconds
    .default(3000)
    .describe(
      'Time until the answer begins, from the end of the request. A wait for one of `max_connections` comes on top. After it the answer is 504, without a retry. 0: no end. An answer that has begun may take as long as it sends something: see `idle_timeout_ms`',
    ),
  allow_upgrade: allowUpgrade.describe(
    'Protocols to which requests may switch, such as `websocket`. Others are answered 403. Filters and limits decide once, about the request. An open connection outlives a logout. `timeout_ms` is for the answer. Then the connection ends after `idle_timeout_ms` without a byte. Any site can make a browser open a WebSocket with its cookies: compare `Origin`',
  ),
  use_websocket: falseByDefault.describe(
    "Ambassador's older spelling of `allow_upgrade: [websocket]`. It is read, never written",
  ),
  connect_timeout_ms: positiveMilliseconds
    .default(3000)
    .describe('Time for a connection to the service. To a proxy by mutual TLS it is at most 1000'),
  weight: integer(0, 100, 'an integer of percent from 0 to 100')
    .exactOptional()
    .describe('Percent of the requests, when several Mappings match the same'),
  resolver: resolver
    .default('dns')
    .describe(
      'How instances are found: `dns`, or `sds` for the discovery service. `endpoint` is the same as `sds`. There a port in `service` is that of the Kubernetes Service, or of its instances. Any port stands for the only port of a service',
    ),
  hop_tls: z
    .boolean()
    .exactOptional()
    .describe(
      'Mutual TLS to the proxy before the service. Default: with resolver `sds`, where the gateway has it (`HOP_TLS`). `false`: none, for instances without a proxy',
    ),
  tls: mappingTls
    .default(false)
    .describe(
      '`true`: TLS to the service, as with `https://` before its name, at port 443 where none is written. A TLSContext: the same with its certificate, versions and `sni`. The certificate of the service is always checked: it must be for that `sni`, else for the name in `service`, and of an authority of its `ca_secret` or `cacert_chain_file`, else of one that the machines of the proxies trust (`CA_FILE`). Proxies that take mutual TLS (`HOP_TLS`, resolver `sds`) refuse it: for instances without a proxy write `hop_tls: false`. While the TLSContext is missing or rejected, the Mapping answers 500. While sds cannot read its files, it answers 503',
    ),
  ...mappingTrafficShape,
  bypass_auth: falseByDefault.describe('No filters run on it'),
  closed: falseByDefault.describe(
    'Its requests are answered 500 and reach no service. For a route that is to be protected first, as `gateway import` writes it',
  ),
  error_response_overrides: errorResponseOverrides
    .exactOptional()
    .describe(
      "Bodies of errors on its routes, of the gateway and of the service. They go before the Module's",
    ),
  labels: labels
    .default({})
    .describe('Label domain → label groups, for rate limits: see RateLimit'),
  gateway_id: gatewayId,
});

export type MappingSpec = z.output<typeof mappingSpec>;
