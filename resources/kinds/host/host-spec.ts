import * as z from 'zod';
import { tlsSettingsShape } from '#resources/traffic/tls-settings.ts';
import { domain } from '#resources/words/domain.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer } from '#resources/words/number-types.ts';
import { secretReference } from '#resources/words/secret-reference.ts';
import { labelSelector } from '../gateway-api/label-selector.ts';
import { acmeProvider } from './acme-provider.ts';

const YEAR_SECONDS = 31_536_000;

const tls = z.object({
  issuer: z
    .enum(['gateway'])
    .exactOptional()
    .describe(
      "`gateway`: the built-in authority issues the certificate. For `*` it is this machine's own, `localhost`",
    ),
  ...tlsSettingsShape,
});

const insecure = z.object({
  action: z
    .enum(['Redirect', 'Reject', 'Route'])
    .exactOptional()
    .meta({ anyCase: true })
    .describe(
      'Requests without TLS: 301 to https, 403, or as with TLS. Default: `Redirect` with TLS, else `Route`',
    ),
  additionalPort: z
    .int()
    .exactOptional()
    .meta({ form: 'an integer' })
    .describe("Ambassador's. Listeners say where the edge listens"),
});

const hsts = z.object({
  max_age: integer(0, 4_294_967_295, 'an integer of seconds')
    .default(YEAR_SECONDS)
    .describe('Seconds. With 0 browsers forget it'),
  includeSubDomains: falseByDefault.describe('Hosts below it too'),
  preload: falseByDefault.describe("For browsers' own lists"),
});

export const hostSpec = z.object({
  hostname: domain
    .default('*')
    .describe(
      'Host of the requests: exact, `*.example.com` or `*` (what no other Host has). Once there is a Host, Mappings are served on the names of Hosts only, and other names are answered 404, or 301 where every Host redirects',
    ),
  mappingSelector: labelSelector
    .exactOptional()
    .meta({ aliases: ['selector', 'mapping_selector'] })
    .describe(
      'Labels that Mappings must have to be served on this Host, besides a `host` that fits. A Mapping for every host (`*`) with such a label is served on the Hosts that select it alone. Without a condition it selects nothing, as if it were absent. Also spelt `selector`',
    ),
  tlsSecret: secretReference
    .exactOptional()
    .describe(
      'Secret with certificate and key (`kubernetes.io/tls`: `tls.crt`, `tls.key`). With an `acmeProvider` the gateway writes it. Default then: `acme-<hostname>`',
    ),
  tlsContext: secretReference
    .meta({ form: 'the name of a TLSContext, or `{ name, namespace }`' })
    .exactOptional()
    .describe(
      'TLSContext that says how TLS is spoken. Default: `<name>-context`, or one that lists the `hostname`',
    ),
  tls: tls.exactOptional().describe('The same for this Host alone'),
  requestPolicy: z
    .object({ insecure: insecure.default({}).describe('Requests without TLS') })
    .default({ insecure: {} })
    .describe('How requests are handled'),
  hsts: hsts
    .exactOptional()
    .describe(
      '`Strict-Transport-Security` (RFC 6797) in answers over TLS: browsers come by https only',
    ),
  acmeProvider: acmeProvider
    .exactOptional()
    .describe('ACME authority that issues the certificate, which is kept in `tlsSecret`'),
  gateway_id: gatewayId,
});

export type HostSpec = z.output<typeof hostSpec>;
