import type { JsonObject } from '#protos/json.ts';
import { LOG_TOKEN } from '#resources/format/log-operator.ts';
import { contentTypeOf, isMarkup, isSilentOnMapping } from '#resources/kinds/module/error-body.ts';
import type { ErrorResponseOverride } from '#resources/kinds/module/error-response-overrides.ts';
import type { Resource } from '#resources/resource.ts';
import { sortedEntries } from '#resources/words/sorted-entries.ts';
import { extension } from '../extension.ts';
import { setHeader } from '../header-option.ts';
import { keptFilter } from '../kept-lists.ts';
import { ERROR_BODIES, FIRST_VALUES, VALUE_HEADER } from './error-bodies-filter.ts';

type Body = ErrorResponseOverride['body'];

/** Literal text, or the index of a value. */
type Part = string | number;

/**
 * Returns the part of a route that replaces the bodies of errors, of the gateway and of services.
 * Envoy writes the values of operators into headers, which the filter removes again. The values are
 * never read as anything else than text.
 */
export function errorBodies(overrides: readonly ErrorResponseOverride[] = []): JsonObject {
  if (overrides.length === 0) return {};
  const operators: string[] = [...FIRST_VALUES];
  // The first of a status counts.
  const errors = Object.fromEntries(
    overrides.toReversed().map(({ body, on_status_code: status }) => [
      String(status),
      {
        content_type: contentTypeOf(body),
        escape: escapeOf(body),
        parts: partsOf(body, status, operators),
      },
    ]),
  );
  return {
    metadata: { filter_metadata: { [ERROR_BODIES]: { values: operators.length, errors } } },
    response_headers_to_add: operators.map((value, index) =>
      setHeader(`${VALUE_HEADER}${index + 1}`, value),
    ),
    typed_per_filter_config: { [ERROR_BODIES]: TURNED_ON },
  };
}

/** Returns the ids of the Mappings whose routes replace bodies. */
export function withErrorBodies(mappings: readonly Resource<'Mapping'>[]): readonly string[] {
  return replacingBodies(mappings).map(({ id }) => id);
}

const replacingBodies = keptFilter(
  ({ spec }: Resource<'Mapping'>) => (spec.error_response_overrides ?? []).length > 0,
);

const TURNED_ON = extension('filters.http.lua.v3.LuaPerRoute', { name: ERROR_BODIES });

/** Returns the escaping of values, which a client may have written. */
function escapeOf(body: Body): 'json' | 'html' | 'none' {
  const type = contentTypeOf(body);
  if (body.json_format !== undefined) return 'json';
  return isMarkup(type) ? 'html' : 'none';
}

function partsOf(
  { json_format, text_format = '' }: Body,
  status: number,
  operators: string[],
): Part[] {
  if (json_format === undefined) return joined(split(text_format, status, operators));
  const members = sortedEntries(json_format).map(([key, value]): Part[] => {
    const name = `${JSON.stringify(key)}:`;
    if (value === '%RESPONSE_CODE%') return [`${name}${status}`];
    return [`${name}"`, ...split(value, status, operators).map(escaped), '"'];
  });
  return joined([
    '{',
    ...members.flatMap((member, index) => (index === 0 ? member : [',', ...member])),
    '}\n',
  ]);
}

/** Envoy knows the status of its own answer only after it has written the headers. */
function split(text: string, status: number, operators: string[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: token, index } of text.matchAll(LOG_TOKEN)) {
    parts.push(text.slice(from, index), partOf(token, status, operators));
    from = index + token.length;
  }
  return [...parts, text.slice(from)];
}

function partOf(token: string, status: number, operators: string[]): Part {
  if (token === '%%') return '%';
  if (token === '%RESPONSE_CODE%') return String(status);
  if (isSilentOnMapping(token)) return '-';
  if (!operators.includes(token)) operators.push(token);
  return operators.indexOf(token) + 1;
}

function escaped(part: Part): Part {
  return typeof part === 'number' ? part : JSON.stringify(part).slice(1, -1);
}

/** Joins texts that stand beside each other. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (typeof part === 'string' && typeof last === 'string') all.splice(-1, 1, last + part);
    else if (part !== '') all.push(part);
  }
  return all;
}
