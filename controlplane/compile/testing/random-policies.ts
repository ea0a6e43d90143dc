import { FILTER_NAMES, NAMESPACES } from './random-filters.ts';
import type { Chances } from './seeded-pick.ts';

const RULE_HOSTS: readonly string[] = [
  '*',
  'a.test',
  'A.Test.',
  '*.test',
  'b.*',
  '*.shop.test',
  'c*d.test',
  'other.example',
];
const RULE_PATHS: readonly string[] = [
  '*',
  '/',
  '/a/*',
  '/a',
  '*/admin*',
  '/**/x',
  '/b*c',
  '*.html',
  '/a/b/',
];

/** A Filter that a rule names. */
export type WrittenItem = {
  readonly name: string;
  readonly namespace?: string;
  readonly onAllow?: 'break' | 'continue';
  readonly ifRequestHeader?: { readonly name: string; readonly negate: boolean };
  readonly arguments?: {
    readonly sameSite?: string;
    readonly insteadOfRedirect?: { readonly filters: readonly { readonly name: string }[] };
  };
};
export type WrittenRule = {
  readonly host?: string;
  readonly path?: string;
  readonly filters?: readonly WrittenItem[];
};

/** What an unreadable rule covers. Undefined for host or path: every one. */
export type Covered = { readonly host?: string; readonly path?: string };

/** A FilterPolicy, and, where a mistake was put in, what it must close. */
export type WrittenPolicy = {
  readonly namespace: string;
  readonly name: string;
  readonly precedence: number;
  readonly rules: readonly WrittenRule[];
  /** As it is written down. */
  readonly spec: object;
  readonly closes?: readonly Covered[];
};

export function randomPolicies(count: number, chances: Chances): readonly WrittenPolicy[] {
  const { chance, pick } = chances;
  return Array.from({ length: count }, (_, index) => {
    const rules = Array.from({ length: pick([0, 1, 1, 2, 3]) }, () => randomRule(chances));
    const named = { namespace: pick(NAMESPACES), name: `p${index}` };
    const precedence = pick([0, 0, 0, 1, -1, 5]);
    const spec = { ...(precedence === 0 ? {} : { precedence }), rules };
    return {
      ...named,
      precedence,
      rules,
      spec,
      ...(chance(0.15) ? broken(spec, rules, chances) : {}),
    };
  });
}

function randomRule(chances: Chances): WrittenRule {
  const { chance, pick } = chances;
  const filters = Array.from({ length: pick([0, 1, 1, 1, 2]) }, () => randomItem(chances));
  return {
    ...(chance(0.2) ? {} : { host: pick(RULE_HOSTS) }),
    ...(chance(0.2) ? {} : { path: pick(RULE_PATHS) }),
    ...(filters.length === 0 && chance(0.5) ? {} : { filters }),
  };
}

function randomItem({ chance, pick }: Chances): WrittenItem {
  const inner = { insteadOfRedirect: { filters: [{ name: pick(FILTER_NAMES) }] } };
  return {
    name: pick(chance(0.7) ? FILTER_NAMES.slice(0, 3) : FILTER_NAMES),
    ...(chance(0.2) ? { namespace: pick(NAMESPACES) } : {}),
    ...(chance(0.2) ? { onAllow: pick(['break', 'continue'] as const) } : {}),
    ...(chance(0.2) ? { ifRequestHeader: { name: 'x-never', negate: chance(0.5) } } : {}),
    ...(chance(0.5)
      ? {
          arguments: pick([
            { sameSite: 'None' },
            { sameSite: 'None' },
            { sameSite: 'lax' },
            inner,
            inner,
          ]),
        }
      : {}),
  };
}

type Breakage = (
  rules: readonly WrittenRule[],
  at: number,
) => { rules: unknown; closes: readonly Covered[] };

const EVERYTHING: readonly Covered[] = [{}];

/** Mistakes in a rule, and mistakes that leave nothing to read. */
const BREAKAGES: readonly Breakage[] = [
  inRule(rule => ({ ...rule, pathh: '/' }), ruleCover),
  inRule(rule => ({ ...rule, filters: [{ name: 'f0', onDeny: 'stop' }] }), ruleCover),
  inRule(rule => ({ ...rule, filters: [{}] }), ruleCover),
  inRule(rule => ({ ...rule, filters: 'f0' }), ruleCover),
  inRule(
    rule => ({ ...rule, filters: [{ name: 'f0', arguments: { sameSite: 'some' } }] }),
    ruleCover,
  ),
  inRule(
    rule => ({ ...rule, host: 'https://a.test' }),
    ({ path }) => coverOf(undefined, path),
  ),
  inRule(
    rule => ({ ...rule, host: 7 }),
    ({ path }) => coverOf(undefined, path),
  ),
  inRule(
    rule => ({ ...rule, path: 'a' }),
    ({ host }) => coverOf(host, undefined),
  ),
  inRule(
    rule => ({ ...rule, path: ['/'] }),
    ({ host }) => coverOf(host, undefined),
  ),
  inRule(
    () => 'rule',
    () => ({}),
  ),
  () => ({ rules: { host: '*' }, closes: EVERYTHING }),
  () => ({ rules: undefined, closes: EVERYTHING }),
  () => ({ rules: null, closes: EVERYTHING }),
];

function broken(spec: object, rules: readonly WrittenRule[], { chance, pick }: Chances) {
  if (chance(0.2)) return { spec: { ...spec, precedence: 'high' }, closes: rules.map(ruleCover) };
  const some = rules.length === 0 ? [{}] : rules;
  const { closes, rules: written } = pick(BREAKAGES)(some, pick([...some.keys()]));
  return { spec: { ...spec, rules: written }, closes };
}

function inRule(
  change: (rule: WrittenRule) => unknown,
  cover: (rule: WrittenRule) => Covered,
): Breakage {
  return (rules, at) => ({
    rules: rules.map((rule, index) => (index === at ? change(rule) : rule)),
    closes: rules.map((rule, index) => (index === at ? cover(rule) : ruleCover(rule))),
  });
}

function ruleCover({ host, path }: WrittenRule): Covered {
  return coverOf(host, path);
}

function coverOf(host: string | undefined, path: string | undefined): Covered {
  return { ...(host === undefined ? {} : { host }), ...(path === undefined ? {} : { path }) };
}
