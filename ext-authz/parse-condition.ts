import type { JsonObject } from '#protos/json.ts';
import { type HeaderCondition, toHeaderMatcher } from '#resources/header-condition.ts';
import type { HeaderFields } from './http-request.ts';
import { flagAt, messageAt, requiredText, textAt, WireError } from './wire-json.ts';

/** The `if_request_header` of a message (`gateway.config.v1.HeaderCondition`); undefined: all requests meet it. */
export function parseCondition(owner: JsonObject): HeaderCondition | undefined {
  const message = messageAt(owner, 'if_request_header');
  if (message === undefined) return undefined;
  return {
    name: requiredText(message, 'name').toLowerCase(),
    negate: flagAt(message, 'negate'),
    ...(message.value === undefined ? {} : { value: textAt(message, 'value') }),
    ...(message.value_regex === undefined ? {} : { valueRegex: textAt(message, 'value_regex') }),
  };
}

/** Whether a request meets the `if_request_header` of a message. */
export function parseMatcher(owner: JsonObject): (headers: HeaderFields) => boolean {
  const condition = parseCondition(owner);
  if (condition === undefined) return always;
  try {
    return toHeaderMatcher(condition);
  } catch {
    throw new WireError('value_regex is no RE2 expression');
  }
}

function always(): boolean {
  return true;
}
