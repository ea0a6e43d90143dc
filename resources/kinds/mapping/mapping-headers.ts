import * as z from 'zod';
import { caution, type Finding } from '#resources/finding.ts';
import { parseHeaderFormat } from '#resources/format/log-format.ts';
import { OWN_SERVER } from '#resources/traffic/edge-headers.ts';
import { trueByDefault } from '#resources/words/flags.ts';
import { parseHeaderName } from '#resources/words/http-token.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import {
  CREDENTIAL_HEADERS,
  FRAMING_HEADERS,
  GRPC_HEADERS,
  INTERNAL_HEADERS,
  isReserved,
} from '#resources/words/reserved-headers.ts';
import { sortedEntries } from '#resources/words/sorted-entries.ts';

/** Header name, in lower case → what is added. `append: false` replaces what is there. */
export type AddedHeaders = Readonly<
  Record<string, { readonly value: string; readonly append: boolean }>
>;

/** Fields that no Mapping may remove. */
const KEPT = [':*', ...FRAMING_HEADERS, ...INTERNAL_HEADERS];

/**
 * Fields that no Mapping may add. They are those that no Filter may set, without `x-forwarded-*`. A
 * Mapping adds its headers after every decision that depends on these.
 */
const REQUEST = [...KEPT, ...CREDENTIAL_HEADERS, 'cookie', 'x-envoy-*', 'x-request-id'];
const RESPONSE = [...KEPT, ...GRPC_HEADERS, 'x-envoy-*'];

const MOST = 100;

const ADDED_FORM = 'a map from header name to its value, or to { value, append }';
const REMOVED_FORM = 'a header name or a list of them';

/** Ambassador notes in `v2Representation` which spelling its own conversion began with. */
const addedObject = z
  .strictObject({
    value: z.string(),
    append: trueByDefault,
    v2Representation: z.string().exactOptional(),
  })
  .transform(({ value, append }) => ({ value, append }));

/** Ambassador's `true` stands for its word. */
const shorthand = z
  .union([z.string(), z.boolean()])
  .transform(value => ({ value: String(value), append: true }));

const added = z.union([shorthand, addedObject]).meta({
  form: 'a string, or a map of `value` (a string) and `append` (`true` or `false`)',
  secret: true,
});

function addedHeaders(rejected: readonly string[]) {
  return z
    .record(z.string(), added)
    .transform((headers, context): AddedHeaders => {
      const found: Record<string, AddedHeaders[string]> = {};
      const fail = (path: string[], message: string) =>
        context.addIssue({ code: 'custom', message, path });
      if (Object.keys(headers).length > MOST) fail([], `more than ${MOST} headers`);
      for (const [key, header] of sortedEntries(headers)) {
        const name = parseName(key, rejected, 'add');
        const value = parseHeaderFormat(header.value);
        if ('error' in name) fail([key], name.error);
        else if ('error' in value) fail([key], value.error);
        else if (Object.hasOwn(found, name.value)) fail([key], repeated(key));
        else found[name.value] = header;
      }
      return found;
    })
    .default({})
    .meta({ form: ADDED_FORM });
}

export const removedHeaders = z
  .union([z.string(), z.array(z.string()).max(MOST)])
  .transform((written, context): readonly string[] => {
    const names = [written].flat().map(name => parseName(name, KEPT, 'remove'));
    for (const name of names) {
      if ('error' in name) context.addIssue({ code: 'custom', message: name.error, path: [] });
    }
    return [...new Set(names.flatMap(name => ('value' in name ? [name.value] : [])))].sort();
  })
  .default([])
  .meta({ form: REMOVED_FORM });

/** Headers of a health check. Nothing decides about its request, so it may have credentials. */
export const checkRequestHeaders = addedHeaders([...KEPT, 'x-envoy-*']);

/** Headers of the answers of all Mappings. `cors` of each says where credentials count. */
export const defaultResponseHeaders = addedHeaders([
  ...RESPONSE,
  'access-control-allow-credentials',
]);

function parseName(text: string, rejected: readonly string[], what: string): Parsed<string> {
  const name = parseHeaderName(text);
  if ('error' in name) return name;
  if (name.value === ':authority')
    return {
      error: `a Mapping may not ${what} the header "${text}". \`host_rewrite\` says which host the service sees`,
    };
  return isReserved(name.value, rejected)
    ? { error: `a Mapping may not ${what} the header "${text}"` }
    : name;
}

function repeated(key: string): string {
  return `the header "${key}" is named twice. Header names have no case`;
}

/**
 * The fields of a Mapping that change headers. Request headers change after all decisions about the
 * request. Response headers change before the client gets them.
 */
export const mappingHeadersShape = {
  add_request_headers: addedHeaders(REQUEST).describe(
    "Headers added to what the service gets: name → value, or `{ value, append }`. `append: false` replaces what is there. Values may have operators of Envoy's access log, such as `%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%`, and `%%` for a percent sign. What a Filter or a RateLimit sets stands as it is",
  ),
  remove_request_headers: removedHeaders.describe('Headers that the service does not get'),
  add_response_headers: addedHeaders(RESPONSE).describe(
    'Headers added to what the client gets, written as `add_request_headers`',
  ),
  remove_response_headers: removedHeaders.describe('Headers that the client does not get'),
};

type MappingHeaders = Partial<z.output<z.ZodObject<typeof mappingHeadersShape>>> & {
  readonly node_group?: string;
};

/** Checks what Envoy does not let a route change. */
export function checkHeaders(spec: MappingHeaders): readonly Finding[] {
  const { add_response_headers = {}, node_group, remove_response_headers = [] } = spec;
  if (node_group !== 'edge') return [];
  return [
    ...(Object.hasOwn(add_response_headers, 'server')
      ? [caution(['add_response_headers', 'server'], OWN_SERVER)]
      : []),
    ...(remove_response_headers.includes('server')
      ? [caution(['remove_response_headers'], OWN_SERVER)]
      : []),
  ];
}
