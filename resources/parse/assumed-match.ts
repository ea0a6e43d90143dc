import type * as z from 'zod';
import { isFields } from '#resources/words/fields.ts';

/**
 * Returns a match of an HTTPRoute or a GRPCRoute for all requests that a match may have been for
 * which is wrong. What of it is right stays, and each other part stands for anything. A path or a
 * call keeps its length, which ranks it.
 */
export function assumedMatch(schema: z.ZodType, match: unknown): unknown {
  const fits = (fields: object) => schema.safeParse(fields).success;
  const { path, method, headers, queryParams }: Readonly<Record<string, unknown>> = isFields(match)
    ? match
    : { path: null };
  const call = method === undefined || fits({ method }) ? method : callOf(method, fits);
  return schema.parse({
    path: path === undefined || fits({ path }) ? path : startOf(path),
    ...(call === undefined ? {} : { method: call }),
    headers: conditionsOf(headers, item => fits({ headers: [item] })),
    queryParams: conditionsOf(queryParams, item => fits({ queryParams: [item] })),
  });
}

/** As many as a right match has at most. */
const MOST_CONDITIONS = 16;

/** A condition whose value is wrong asks for the name alone. */
function conditionsOf(list: unknown, fits: (item: object) => boolean): readonly object[] {
  const items = Array.isArray(list) ? list.filter(isFields) : [];
  const read = items.flatMap(item => {
    const { name } = item;
    const any = { type: 'RegularExpression', name, value: '.*' };
    return [item, any].filter(fits).slice(0, 1);
  });
  return [...new Map(read.map(item => [item.name, item])).values()].slice(0, MOST_CONDITIONS);
}

/** Parts of a path without a dot, a doubled slash, or a character that is escaped. */
const LITERAL = /^(?:\/[-\w~]+)*\/?/;

/** Returns an expression for all paths that begin as this one does. */
function startOf(path: unknown): object {
  const { type = 'PathPrefix', value }: Readonly<Record<string, unknown>> = isFields(path)
    ? path
    : {};
  const written = typeof value === 'string' ? value.slice(0, LONGEST) : '';
  const isPlain = type === 'PathPrefix' || type === 'Exact';
  const literal = isPlain ? (LITERAL.exec(written)?.[0] ?? '') : literalStart(written);
  const start = literal.slice(0, LONGEST_START);
  const rest = anything('?', written.length - start.length);
  return { type: 'RegularExpression', value: `${start}${rest}` };
}

const LONGEST = 1000;
/** Each of its characters is an instruction of the expression, and `whyNoRe2` allows 1,000. */
const LONGEST_START = 900;

/** Returns how everything begins that an expression matches, as far as that is plain. */
function literalStart(expression: string): string {
  const text = expression.replace(/^\^/, '').replaceAll('\\/', '/');
  const [start = ''] = isChoice(text) ? [] : (LITERAL.exec(text) ?? []);
  return /^[?*{]/.test(text.slice(start.length)) ? start.slice(0, -1) : start;
}

/** Whether an expression is a choice of several outside its groups. */
function isChoice(expression: string): boolean {
  let [before, rest] = ['', expression.replace(/\\.|\[[^\]]*\]/g, '')];
  while (rest !== before) [before, rest] = [rest, rest.replace(/\([^()]*\)/g, '')];
  return rest.includes('|');
}

/** Returns an expression for any text without this character, of this length where that can be. */
function anything(without: string, length: number): string {
  return `[^${without.repeat(Math.max(1, length - '[^]*'.length))}]*`;
}

/** Returns the call of a gRPC match, or undefined for every call. */
function callOf(method: unknown, fits: (fields: object) => boolean): object | undefined {
  const { type = 'Exact', ...parts }: Readonly<Record<string, unknown>> = isFields(method)
    ? method
    : {};
  const read = (['service', 'method'] as const).flatMap(field => {
    const value = parts[field];
    if (value === undefined) return [];
    if (fits({ method: { type, [field]: value } })) return [[field, value] as const];
    if (type !== 'RegularExpression' || typeof value !== 'string') return [];
    return [[field, anything('/', value.length)] as const];
  });
  const call = { type, ...Object.fromEntries(read) };
  return fits({ method: call }) ? call : undefined;
}
