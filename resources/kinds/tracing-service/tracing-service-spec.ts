import * as z from 'zod';
import { falseByDefault, trueByDefault } from '#resources/words/flags.ts';
import { gatewayId } from '#resources/words/gateway-id.ts';
import { parseHostHeader } from '#resources/words/host.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { service } from '#resources/words/service.ts';
import { statsName } from '#resources/words/stats-name.ts';
import { toldHeader } from '#resources/words/told-header.ts';

/** Each Host with TLS has the tags in its part of the edge's listener. */
const MOST_TAGS = 32;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 1_024;

const name = z
  .string()
  .min(1)
  .max(LONGEST_NAME)
  .meta({ form: `a text of 1 to ${LONGEST_NAME} characters` });

const value = z
  .string()
  .max(LONGEST_VALUE)
  .meta({ form: `a text of at most ${LONGEST_VALUE} characters` });

function parseEndpoint(text: string): Parsed<string> {
  if (/^\/[\x21-\x7e]{0,1023}$/.test(text)) return { value: text };
  return { error: `"${text.slice(0, 80)}" is no path: it begins with "/" and has no white space` };
}

const config = z.object({
  service_name: name
    .exactOptional()
    .describe(
      "Name of the edge in traces. Default: `edge`. Proxies beside applications have their node group's",
    ),
  collector_endpoint: checkedString('a path', parseEndpoint)
    .default('/api/v2/spans')
    .describe('Zipkin: the path that spans are sent to'),
  collector_endpoint_version: z
    .enum(['HTTP_JSON', 'HTTP_PROTO'])
    .default('HTTP_JSON')
    .describe('Zipkin: how spans are written'),
  collector_hostname: checkedString('host or host:port', parseHostHeader)
    .exactOptional()
    .meta({ deprecatedNames: ['collector_endpoint_hostname'] })
    .describe('Zipkin: the `Host` of what is sent. Default: the host of `service`'),
  trace_id_128bit: trueByDefault.describe(
    'Zipkin: ids of traces have 128 bits. Else 64, which OpenTelemetry cannot read',
  ),
  shared_span_context: trueByDefault.describe(
    "Zipkin: a proxy's span has the id of its caller's span. Only with `spawn_upstream_span`",
  ),
});

const percentage = z
  .number()
  .min(0)
  .max(100)
  .default(100)
  .meta({ form: 'a percentage from 0 to 100' });

const sampling = z.object({
  client: percentage.describe('Of requests that ask for a trace with `x-client-trace-id`'),
  random: percentage.describe('Of all requests'),
  overall: percentage.describe('At most, of all requests'),
});

const customTag = z
  .object({
    tag: name.describe('Name of the tag'),
    literal: z
      .object({ value: value.min(1).describe('Value of the tag') })
      .exactOptional()
      .describe('The same value in each span'),
    environment: z
      .object({
        name: name.describe('Name of the variable'),
        default_value: value.exactOptional().describe('When it is not set'),
      })
      .exactOptional()
      .describe("A variable of the proxy's environment"),
    request_header: z
      .object({
        name: toldHeader.describe('Name of the header. `:path` is sent without its query'),
        default_value: value.exactOptional().describe('When the request has none'),
      })
      .exactOptional()
      .describe('A header of the request. None that holds credentials'),
  })
  .check(({ issues, value: { environment, literal, request_header } }) => {
    const given = [literal, environment, request_header].filter(source => source !== undefined);
    if (given.length !== 1) issues.push({ code: 'custom', message: ONE_SOURCE, input: given });
  });

const ONE_SOURCE = 'a tag has one of `literal`, `environment` and `request_header`';

export const tracingServiceSpec = z.object({
  service: service.describe(
    'The collector. With `opentelemetry` it speaks OTLP over gRPC, often at port 4317. With `zipkin` it speaks HTTP, often at 9411',
  ),
  driver: z.enum(['opentelemetry', 'zipkin']).describe('How spans are sent'),
  config: config.prefault({}).describe('Settings of the driver'),
  sampling: sampling.prefault({}).describe('How many requests are traced'),
  continue_client_traces: falseByDefault.describe(
    "A client's `traceparent` or `b3` begins the trace, and says whether it is kept. Default: the edge begins each trace",
  ),
  spawn_upstream_span: falseByDefault.describe(
    'Each try at a service is a span of its own. Requests that are not kept cost more then',
  ),
  custom_tags: z
    .array(customTag)
    .max(MOST_TAGS)
    .meta({ droppable: true, lenient: true, form: `a list of at most ${MOST_TAGS} tags` })
    .exactOptional()
    .meta({ deprecatedNames: ['v3CustomTags'] })
    .describe("Further tags of the proxies' spans"),
  tag_headers: z
    .array(toldHeader)
    .max(MOST_TAGS)
    .meta({ droppable: true, lenient: true, form: `a list of at most ${MOST_TAGS} headers` })
    .exactOptional()
    .describe('Headers of the request as tags of the same names. `custom_tags` count instead'),
  stats_name: statsName,
  gateway_id: gatewayId,
});

export type TracingServiceSpec = z.output<typeof tracingServiceSpec>;
export type CustomTag = z.output<typeof customTag>;
