import * as z from 'zod';
import { parseLogFormat } from '#resources/format/log-format.ts';
import { defaultLabels } from '#resources/labels/labels.ts';
import type { KindDefinition } from '#resources/schema/kind.ts';
import { RESTRICTION_NAMES } from '#resources/schema/restrictions.ts';
import { checkCredentials } from '#resources/traffic/cors.ts';
import { falseByDefault, trueByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { integer, milliseconds } from '#resources/words/number-types.ts';
import { checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import { AMBASSADOR_FIELDS } from './ambassador-fields.ts';
import { checkPages, checkRepeated, errorResponseOverrides } from './error-response-overrides.ts';
import { headerDefaults, moduleDefaultsShape } from './module-defaults.ts';

const config = z.object({
  use_remote_address: trueByDefault.describe(
    "The client's address is the connection's. `false`: what `X-Forwarded-For` says",
  ),
  xff_num_trusted_hops: integer(0, 4_294_967_295, 'an integer from 0')
    .default(0)
    .describe('Proxies in front of the gateway whose `X-Forwarded-*` headers are trusted'),
  escaped_slashes: z
    .enum(['reject', 'keep'])
    .default('reject')
    .describe('Paths with `%2F` or `%5C`: answer 400, or pass them on as they are'),
  serve_other_hosts: falseByDefault.describe(
    'Once there is a Host, Mappings are served on the names of Hosts only. `true`: on every other name too',
  ),
  ignore: z
    .array(z.string().min(1).meta({ form: 'a name' }))
    .meta({ lenient: true, form: 'a list of names' })
    .default([])
    .describe(
      `Restrictions that may be left out. Those of Ambassador's that are not served are ${RESTRICTION_NAMES.map(name => `\`${name}\``).join(', ')}. A misspelt field that restricts access, such as \`metod\`, has its own name. Whatever asks for another one is closed (500): an AuthService or \`ip_allow\` every path, a Mapping, Host or TLSContext what it is for`,
    ),
  default_labels: defaultLabels
    .default({})
    .describe('Label domain → `defaults`, the labels of every request: see RateLimit'),
  default_label_domain: z
    .string()
    .min(1)
    .exactOptional()
    .describe(
      'The only label domain in force. Default: `gateway` and `ambassador`, the domain of documents of `getambassador.io`, side by side',
    ),
  remote_address_prefix: z
    .object({
      ipv4: prefixLength(32).default(32).describe('Of IPv4 addresses'),
      ipv6: prefixLength(128).default(64).describe('Of IPv6 addresses'),
    })
    .prefault({})
    .describe(
      'Leading bits of `remote_address` that tell clients apart in rate limits of the built-in service',
    ),
  proxy_log_format: z
    .string()
    .min(1)
    .check(checkWith(parseLogFormat))
    .exactOptional()
    .describe("Format of a line of the edge's access log, with Envoy's operators. Default: JSON"),
  listener_idle_timeout_ms: milliseconds
    .exactOptional()
    .meta({ droppable: true })
    .describe(
      "A client's connection without a request ends after this time. 0: never. Default: an hour",
    ),
  server_name: z
    .string()
    .check(checkWith(parseServerName))
    .exactOptional()
    .meta({ droppable: true })
    .describe('The header `Server` of every answer. Default: `envoy`'),
  error_response_overrides: errorResponseOverrides
    .exactOptional()
    .describe(
      'Bodies of errors that the gateway answers by itself, those of Filters and rate limits too. Answers of services, and gRPC, stay as they are. All together have 16384 characters at most',
    ),
  ...moduleDefaultsShape,
  defaults: headerDefaults,
});

function prefixLength(most: number) {
  return integer(1, most);
}

/** The name stands in a header. */
function parseServerName(text: string): Parsed<string> {
  if (/^[\x21-\x7e](?:[\x20-\x7e]{0,98}[\x21-\x7e])?$/.test(text)) return { value: text };
  return {
    error: 'a server name has 1 to 100 characters of ASCII, and no white space at its ends',
  };
}

const schema = z.object({
  config: config.prefault({}).describe('Settings of the whole gateway'),
  gateway_id: gatewayId,
});

/** Settings of the whole gateway. */
export const module: KindDefinition<typeof schema> = {
  summary: 'Settings of the whole gateway.',
  schema,
  fieldsAt: 'spec',
  unknownField: 'warning',
  foreignFields: AMBASSADOR_FIELDS,
  restricting: [
    'config',
    'config.default_labels',
    'config.default_label_domain',
    'config.defaults',
    'config.defaults.httpmapping',
    'config.defaults.remove_request_headers',
    'config.defaults.httpmapping.remove_request_headers',
  ],
  check: ({ config }) => [
    ...checkCredentials(config?.cors, ['config', 'cors']),
    ...checkRepeated(config?.error_response_overrides, OVERRIDES),
    ...checkPages(config?.error_response_overrides, OVERRIDES),
  ],
};

export type ModuleSpec = z.output<typeof schema>;
export type ModuleConfig = ModuleSpec['config'];

const OVERRIDES = ['config', 'error_response_overrides'];
