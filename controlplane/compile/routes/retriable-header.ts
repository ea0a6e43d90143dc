import type { JsonObject } from '#protos/json.ts';
import { setHeader } from '../header-option.ts';

/**
 * With this response header an application proxy tells the edge that a retry on another instance is
 * safe. Clients never see it.
 */
export const RETRIABLE_HEADER = 'x-gateway-retriable';

const HEADERS_TO_ADD = [setHeader(RETRIABLE_HEADER, 'true')];

/**
 * Adds the header to answers that an application proxy makes itself. It could not connect to the
 * instance (UF), there is none (UH), or the connection broke (UC) under a request that may be
 * retried (RFC 9110, section 9.2.1).
 */
export const RETRIABLE_ANSWERS = [
  { filter: flags('UF', 'UH'), headers_to_add: HEADERS_TO_ADD },
  {
    filter: { and_filter: { filters: [flags('UC'), safeMethod()] } },
    headers_to_add: HEADERS_TO_ADD,
  },
];

function flags(...names: readonly string[]): JsonObject {
  return { response_flag_filter: { flags: names } };
}

function safeMethod(): JsonObject {
  const string_match = { safe_regex: { regex: 'GET|HEAD|OPTIONS' } };
  return { header_filter: { header: { name: ':method', string_match } } };
}
