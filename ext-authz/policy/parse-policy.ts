import {
  messageAt,
  messagesAt,
  requiredText,
  textAt,
  textsAt,
  WireError,
  wordAt,
} from '#ext-authz/wire/wire-json.ts';
import { decode } from '#protos/decode.ts';
import type { JsonObject } from '#protos/json.ts';
import { parseHostGlob, parsePathGlob } from '#resources/match/filter-policy-match.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { parseCondition, parseMatcher } from './parse-condition.ts';
import type { Policy } from './policy.ts';
import type { InsteadOfRedirect, Rule, RuleArguments, RuleItem } from './rule.ts';

const NEXT = new Map([
  ['BREAK', 'break'],
  ['CONTINUE', 'continue'],
] as const);
const SAME_SITE = new Map([
  ['NO_ATTRIBUTE', undefined],
  ['LAX', 'lax'],
  ['STRICT', 'strict'],
  ['NONE', 'none'],
] as const);

/**
 * Parses a `gateway.config.v1.FilterPolicy`. The error names the field that is not what it must be.
 */
export function parsePolicy(bytes: Uint8Array): Parsed<Policy> {
  try {
    const message = decode('gateway.config.v1.FilterPolicy', bytes);
    const [namespace, name] = [requiredText(message, 'namespace'), requiredText(message, 'name')];
    const precedence = typeof message.precedence === 'number' ? message.precedence : 0;
    const routeRule = textAt(message, 'route_rule');
    const rules = messagesAt(message, 'rules').map((rule, index) => ({
      ...toRule(rule, `${namespace}/${name}[${index}]`),
      ...(routeRule === '' ? {} : { routeRule }),
    }));
    const mark = message.earlier_rules === true ? { earlierRules: true as const } : {};
    return { value: { namespace, name, precedence, rules, ...mark } };
  } catch (error) {
    return { error: error instanceof WireError ? error.message : 'it cannot be decoded' };
  }
}

function toRule(message: JsonObject, id: string): Rule {
  const host = parseHostGlob(textAt(message, 'host'));
  const path = parsePathGlob(textAt(message, 'path'));
  if ('error' in host) throw new WireError(`${id}: host is not a glob`);
  if ('error' in path) throw new WireError(`${id}: path is not a glob`);
  return {
    id,
    host: host.value,
    path: path.value,
    items: messagesAt(message, 'filters').map(toItem),
  };
}

function toItem(message: JsonObject): RuleItem {
  return {
    filter: `${requiredText(message, 'namespace')}/${requiredText(message, 'name')}`,
    applies: parseMatcher(message),
    ...(parseCondition(message) === undefined ? { always: true as const } : {}),
    onDeny: wordAt(message, 'on_deny', NEXT),
    onAllow: wordAt(message, 'on_allow', NEXT),
    arguments: toArguments(messageAt(message, 'arguments') ?? {}),
  };
}

function toArguments(message: JsonObject): RuleArguments {
  const scope = messageAt(message, 'scope');
  const sameSite = message.same_site ?? 'NO_ATTRIBUTE';
  if (!SAME_SITE.has(sameSite as 'LAX')) throw new WireError('same_site is not known');
  return {
    scope: scope === undefined ? undefined : [...new Set(textsAt(scope, 'values'))],
    insteadOfRedirect: toInsteadOfRedirect(messageAt(message, 'instead_of_redirect')),
    sameSite: SAME_SITE.get(sameSite as 'LAX'),
  };
}

function toInsteadOfRedirect(message: JsonObject | undefined): InsteadOfRedirect | undefined {
  if (message === undefined) return undefined;
  const status = Number(message.http_status_code ?? 0);
  const items = messagesAt(message, 'filters').map(toItem);
  if (status !== 0 && (status < 400 || status > 599 || items.length > 0))
    throw new WireError(
      'instead_of_redirect: http_status_code is not from 400 to 599, or there are filters too',
    );
  if (status === 0 && items.length === 0) throw new WireError('instead_of_redirect is empty');
  return { applies: parseMatcher(message), status: status === 0 ? undefined : status, items };
}
