import type { WrittenFilter } from './random-filters.ts';
import type { WrittenItem, WrittenPolicy, WrittenRule } from './random-policies.ts';

/** The required result of a request: the names of the Filters that run, or closed. */
export type Expected = { readonly closed: true } | { readonly ran: readonly string[] };

/**
 * Reads the documents a second time, by what an operator wrote and nothing else. The first rule
 * that matches counts. What refers to a Filter that cannot run is closed. A policy with a mistake
 * closes what it would have covered.
 */
export function expectedOf(
  filters: readonly WrittenFilter[],
  policies: readonly WrittenPolicy[],
  host: string,
  path: string,
): Expected {
  const covers = ({ host: hosts = '*', path: paths = '*' }: { host?: string; path?: string }) =>
    globMatches(hosts.toLowerCase().replace(/\.$/, ''), host) && globMatches(paths, path);
  if (policies.some(({ closes = [] }) => closes.some(covers))) return { closed: true };
  const rules = policies
    .filter(({ closes }) => closes === undefined)
    .sort(byPrecedence)
    .flatMap(({ namespace, rules }) => rules.map(rule => ({ namespace, rule })));
  const met = rules.find(({ rule }) => covers(rule));
  return met === undefined ? { ran: [] } : runsOf(filters, met.namespace, met.rule);
}

/** Higher first, then by namespace and name. */
function byPrecedence(a: WrittenPolicy, b: WrittenPolicy): number {
  if (a.precedence !== b.precedence) return b.precedence - a.precedence;
  return `${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1;
}

function runsOf(
  filters: readonly WrittenFilter[],
  own: string,
  { filters: items = [] }: WrittenRule,
): Expected {
  const find = (name: string, namespace = own) =>
    filters.find(filter => filter.name === name && filter.namespace === namespace);
  const isFine = ({ arguments: given = {}, name, namespace }: WrittenItem) => {
    const filter = find(name, namespace);
    const inner = given.insteadOfRedirect?.filters.map(({ name }) => find(name)) ?? [];
    if (![filter, ...inner].every(one => one !== undefined && canRun(filters, one))) return false;
    if (filter?.type !== 'OAuth2') return true;
    if (given.sameSite === 'None' && filter.open === true) return false;
    return inner.every(one => one?.open === undefined);
  };
  if (!items.every(isFine)) return { closed: true };
  const ran: string[] = [];
  for (const { ifRequestHeader, name, namespace, onAllow } of items) {
    if (ifRequestHeader?.negate === false) continue;
    ran.push(`${namespace ?? own}/${name}`);
    if (onAllow === 'break') break;
  }
  return { ran: [...new Set(ran)].sort() };
}

/** A Filter may pass access tokens to another, which must be a JWT filter without a mistake. */
function canRun(filters: readonly WrittenFilter[], { namespace, runs }: WrittenFilter): boolean {
  if (typeof runs === 'boolean') return runs;
  return filters.some(
    other =>
      other.namespace === namespace &&
      other.name === runs.delegate &&
      other.type === 'JWT' &&
      other.runs === true,
  );
}

function globMatches(glob: string, text: string): boolean {
  if (glob === '') return text === '';
  const [first = '', rest] = [glob[0], glob.slice(1)];
  if (first !== '*') return text[0] === first && globMatches(rest, text.slice(1));
  return globMatches(rest, text) || (text !== '' && globMatches(glob, text.slice(1)));
}
