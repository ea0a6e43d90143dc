import { compile } from '#controlplane/compile/compile.ts';
import { EXT_AUTHZ } from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import {
  filtersInForce,
  type OperatorRule,
} from '#controlplane/explain/explained-filters-config.ts';
import { firstRule } from '#ext-authz/policy/policy.ts';
import type { FilterReference } from '#resources/kinds/filter-policy/filter-policy.ts';
import type { Rejected } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { CLOSED, type Decision, OPEN } from './decision.ts';
import { hostIndex } from './host-index.ts';
import { covers, meet, type Region } from './region.ts';

/** Where a rule applies, the id of its FilterPolicy, and what it decides. */
export type RuleRegion = Region & { readonly policy: string; readonly decision: Decision };

/** Who may have what, on one side of a change. */
export type AccessWorld = {
  /** Where rules of FilterPolicies apply, also those of rejected ones. */
  readonly regions: readonly RuleRegion[];
  /** Returns the parts of a region in which rules apply, some of them perhaps twice. */
  partsOf(region: Region): readonly Region[];
  /** Decides about a request, as if its route had no `bypass_auth`. */
  decide(host: string, path: string): Decision;
};

/** Decides by the index of the Filter service, and by what the compiler closes. */
export function accessWorld(resources: ResourceSet, options: CompileOptions): AccessWorld {
  const { filterPolicies, closed } = resources;
  const shut = closed.filter(({ kind }) => kind === 'FilterPolicy').flatMap(shutRegions);
  const shutAt = (host: string, path: string) =>
    shut.find(region => covers(region, { host, path }))?.decision;
  if (filterPolicies.length === 0) return worldOf(shut, (host, path) => shutAt(host, path) ?? OPEN);
  const { active, rules } = filtersInForce(resources, compile(resources, EXT_AUTHZ, options));
  const decisions = new Map(
    rules.map(rule => [rule.rule, decisionOf(rule, active.closed.has(rule.rule))]),
  );
  const regions = rules.map(({ rule, spec: { host, path }, policy }) => ({
    ...{ host, path, policy: policy.id },
    decision: decisions.get(rule) ?? OPEN,
  }));
  const decide = (host: string, path: string): Decision => {
    const rule = firstRule(active.index, host, path);
    return shutAt(host, path) ?? (rule && decisions.get(rule)) ?? OPEN;
  };
  return worldOf([...regions, ...shut], decide);
}

function worldOf(regions: readonly RuleRegion[], decide: AccessWorld['decide']): AccessWorld {
  const rulesFor = hostIndex(regions, ({ host }) => host);
  return {
    regions,
    decide,
    partsOf: region => rulesFor(region.host).flatMap(rule => meet(rule, region) ?? []),
  };
}

/** Returns what a rejected FilterPolicy closes. */
function shutRegions({ id, rules = [{}] }: Rejected): readonly RuleRegion[] {
  const decision = { ...CLOSED, by: `${id}, which is rejected` };
  return rules.map(({ host = '*', path = '*' }) => ({ host, path, policy: id, decision }));
}

function decisionOf({ policy, index, spec }: OperatorRule, isClosed: boolean): Decision {
  const by = `spec.rules[${index}] of ${policy.id}`;
  if (isClosed) return { ...CLOSED, by };
  if (spec.filters.length === 0) return { ...OPEN, by };
  const nameOf = ({ name, namespace = policy.namespace }: FilterReference) =>
    `${namespace}/${name}`;
  return {
    decision: 'filters',
    filters: spec.filters.map(item => [nameOf(item), ...demandsOf(item)].join(' ')),
    sure: new Set(sureItems(spec.filters).map(nameOf)),
    by,
  };
}

/** Returns the Filters that every request must pass. */
function sureItems(filters: readonly FilterReference[]): readonly FilterReference[] {
  const skipping = filters.findIndex(({ onAllow }) => onAllow === 'break');
  const reached = skipping === -1 ? filters : filters.slice(0, skipping + 1);
  return reached.filter(
    ({ ifRequestHeader, onDeny }) => ifRequestHeader === undefined && onDeny === 'break',
  );
}

/** Returns what a rule asks of a Filter beside its defaults. */
function demandsOf({ arguments: given, ifRequestHeader, onAllow, onDeny }: FilterReference) {
  const { scope, insteadOfRedirect, sameSite } = given;
  const { name, negate, value, valueRegex } = ifRequestHeader ?? {};
  const wanted = value === undefined ? valueRegex : 'a value that is not shown';
  return [
    ...(name === undefined
      ? []
      : [`if header ${name} ${negate ? 'has not' : 'has'} ${wanted ?? 'a value'}`]),
    ...(onDeny === 'continue' ? ['(goes on when it denies)'] : []),
    ...(onAllow === 'break' ? ['(the last one when it allows)'] : []),
    ...(scope === undefined ? [] : [`scope ${JSON.stringify(scope)}`]),
    ...(sameSite === undefined ? [] : [`sameSite ${sameSite}`]),
    ...(insteadOfRedirect === undefined ? [] : ['with insteadOfRedirect']),
  ];
}
