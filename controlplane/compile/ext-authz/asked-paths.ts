import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { commonText, globCovers } from '#resources/match/glob-relation.ts';
import { startIndex } from '#resources/match/start-index.ts';
import { domainGlob } from '../mapping-domain.ts';
import { GATEWAY_PATHS } from './ext-authz-filter.ts';
import { reachIndex } from './host-reach.ts';
import type { OrderedRule } from './rule-order.ts';

/**
 * Returns which of these paths the Filter service must be asked about, as globs for paths that are
 * read in one way. Empty: none of them.
 * @returns undefined when it must be asked about all, or about too many to tell them apart
 */
export type AskedPaths = (paths: Glob) => readonly Glob[] | undefined;

/** What the virtual host of some domains has. */
export type AskedOn = (domains: readonly string[]) => AskedPaths;

/** Each is one more condition of a route. */
export const MOST_APART = 16;

const OWN_PATHS = parseGlob(`${GATEWAY_PATHS}*`);

/**
 * Returns where a rule with filters may be the first that matches. It asks when in doubt. On a
 * protected origin the gateway's own paths have routes of their own, and elsewhere the service
 * answers them.
 */
export function askedOn(rulesOn: RulesOn, isOrigin: (domain: string) => boolean): AskedOn {
  return domains => {
    const find = rulesOn(domains);
    if (asksAlways(find(EVERY_PATH), domains)) return () => undefined;
    const own = domains.every(isOrigin) ? [] : [OWN_PATHS];
    return paths => {
      const asked = closing(find(paths), paths, domains);
      if (asked.some(path => globCovers(path, paths))) return undefined;
      const all = [...asked, ...own.filter(path => commonText(path, paths) !== undefined)];
      return all.length > MOST_APART ? undefined : all;
    };
  };
}

const EVERY_PATH = parseGlob('*');

/**
 * Returns whether a rule with filters is for every path and no rule before it opens all hosts of
 * the domains. Very many rules for all paths of one host each need not be compared for each path.
 */
function asksAlways(rules: readonly OrderedRule[], domains: readonly string[]): boolean {
  const hosts = domains.map(domainGlob);
  const first = rules.find(
    ({ closes, host, path }) =>
      (closes && globCovers(path, EVERY_PATH)) ||
      (!closes && hosts.every(each => globCovers(host, each))),
  );
  return first?.closes === true;
}

/** Returns what finds the rules that may match in the virtual host of some domains. */
export type RulesOn = (domains: readonly string[]) => FindRules;

/** Virtual hosts that the same rules may match share one index. */
export function rulesOn(rules: readonly OrderedRule[]): RulesOn {
  const byHost = Map.groupBy(rules, ({ host }) => globText(host));
  const hostsOn = reachIndex([...byHost.keys()], host => host);
  const finders = new Map<string, FindRules>();
  return domains => {
    const meeting = [...new Set(domains.flatMap(hostsOn))];
    const key = meeting.join();
    const find = finders.get(key) ?? pathFinder(meeting.flatMap(host => byHost.get(host) ?? []));
    finders.set(key, find);
    return find;
  };
}

/**
 * A rule without filters that is for every host of these domains and all of these paths decides.
 * None behind it is reached.
 */
function closing(
  rules: readonly OrderedRule[],
  paths: Glob,
  domains: readonly string[],
): readonly Glob[] {
  const opening = rules.findIndex(rule => !rule.closes && isWhole(rule, paths, domains));
  const reached = opening === -1 ? rules : rules.slice(0, opening);
  return reached.filter(({ closes }) => closes).map(({ path }) => path);
}

/** Returns whether a rule is for every host of these domains and all of these paths. */
export function isWhole(
  { host, path }: OrderedRule,
  paths: Glob,
  domains: readonly string[],
): boolean {
  const hosts = domains.map(domainGlob);
  return globCovers(path, paths) && hosts.every(each => globCovers(host, each));
}

/** Finds the rules that may match one of some paths, in their order. */
type FindRules = (paths: Glob) => readonly OrderedRule[];

/** Looks rules up by what their paths begin with. */
function pathFinder(rules: readonly OrderedRule[]): FindRules {
  const around = startIndex(rules, ({ path }) => path.prefix);
  return paths =>
    [...around(paths.prefix)]
      .filter(({ path }) => commonText(path, paths) !== undefined)
      .sort((a, b) => a.rank - b.rank);
}

function globText({ inner, prefix, suffix }: Glob): string {
  return suffix === undefined ? prefix : [prefix, ...inner, suffix].join('*');
}
