import * as z from 'zod';
import type { FieldPath, Finding } from '#resources/finding.ts';
import type { FilterName } from '#resources/kinds/filter/injected-headers.ts';
import { labelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import { objectName } from '#resources/kinds/gateway-api/names.ts';
import {
  type PolicyTarget,
  policyTarget,
  UNREADABLE_TARGET,
} from '#resources/kinds/gateway-api/policy-target.ts';
import { type Choosing, EVERYTHING, selectorOf } from '#resources/kinds/host/host-selector.ts';
import { isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import type { MappingMatch } from '#resources/kinds/mapping/mapping-match.ts';
import { checkMatch, mappingMatchShape } from '#resources/kinds/mapping/mapping-match.ts';
import { ruleMatchShape } from '#resources/match/rule-match-shape.ts';
import type { ReadableRule, Rejected } from '#resources/resource.ts';
import { metaOf } from '#resources/schema/schema-walk.ts';
import { filterHeaders } from '#resources/template/header-template.ts';
import { domain } from '#resources/words/domain.ts';
import { isFields } from '#resources/words/fields.ts';
import { salvageListeners } from './salvage-listeners.ts';
import { salvageRoute } from './salvage-route.ts';
import { salvageVirtualHosts } from './salvage-virtual-hosts.ts';

const match = z.object(mappingMatchShape);
const domains = z.array(domain);

/** Every field that says what a Mapping matches, in each accepted spelling. */
const MATCH_FIELDS: readonly string[] = Object.entries(mappingMatchShape).flatMap(
  ([name, schema]) => [name, ...(metaOf(schema).aliases ?? [])],
);

/**
 * Reads what is left of a rejected resource, so that its traffic can be closed. `spec` is in the
 * schema's spelling where the kind has one. `findings` are those of the document, with paths from
 * its root.
 */
export function salvage(
  kind: string,
  spec: unknown,
  findings: readonly Finding[],
): Omit<Rejected, 'kind' | 'namespace' | 'name' | 'id' | 'source' | 'unserved'> {
  if (kind === 'Mapping') return salvageMatch(spec, findings);
  if (kind === 'ProxyConfig') return salvageVirtualHosts(spec);
  if (kind === 'Host')
    return { ...salvageHosts(spec, ({ hostname = '*' }) => [hostname]), ...salvageSelector(spec) };
  if (kind === 'TLSContext') return salvageHosts(spec, ({ hosts = [] }) => hosts);
  if (kind === 'Filter') return { injects: injectedNames(spec), ...salvageDelegate(spec) };
  if (kind === 'Gateway') return { ...salvageClass(spec), ...salvageListeners(spec) };
  if (kind === 'ListenerSet') return salvageListeners(spec);
  if (kind === 'BackendTLSPolicy') return { targets: salvageTargets(spec) ?? [UNREADABLE_TARGET] };
  const targets = TARGETING.includes(kind) ? salvageTargets(spec) : undefined;
  if (targets !== undefined) return { targets, rules: [] };
  if (kind === 'FilterPolicy') return salvageRules(spec, findings);
  const route = isGatewayApiKind(kind) ? salvageRoute(kind, spec) : undefined;
  return route === undefined ? {} : { route };
}

/**
 * Returns the match, when no error touches it. A Mapping must not close more than it would have
 * served, and a shadow serves nothing.
 */
function salvageMatch(spec: unknown, findings: readonly Finding[]): { match?: MappingMatch } {
  const touched = findings.some(({ severity, path: [root, field] }) => {
    return (
      severity === 'error' && root === 'spec' && MATCH_FIELDS.includes(String(field).toLowerCase())
    );
  });
  const parsed = match.safeParse(spec);
  const isShadow = isFields(spec) && spec.shadow === true;
  if (isShadow || touched || !parsed.success || checkMatch(parsed.data).length > 0) return {};
  return { match: parsed.data };
}

/** Returns the names that `of` finds, or none when they cannot be read. */
function salvageHosts(
  spec: unknown,
  of: (spec: Readonly<Record<string, unknown>>) => unknown,
): { hosts?: readonly string[] } {
  const parsed = isFields(spec) ? domains.safeParse(of(spec)) : undefined;
  return parsed?.success === true ? { hosts: parsed.data } : {};
}

/** What a Host chooses must not be served on others while it is rejected. */
function salvageSelector(spec: unknown): Choosing {
  const written = isFields(spec) ? spec.mappingSelector : undefined;
  if (written === undefined || written === null) return {};
  const { data: mappingSelector } = labelSelector.safeParse(written);
  return mappingSelector === undefined
    ? { mappingSelector: EVERYTHING }
    : selectorOf({ mappingSelector });
}

/** The status of a Gateway is written by the controller of its class alone. */
function salvageClass(spec: unknown): { gatewayClass?: string } {
  const parsed = objectName.safeParse(isFields(spec) ? spec.gatewayClassName : undefined);
  return parsed.success ? { gatewayClass: parsed.data } : {};
}

/** Clients must not send these, even while the Filter is broken. */
function injectedNames(spec: unknown): readonly string[] {
  const types = isFields(spec) ? [spec.OAuth2, spec.JWT].filter(isFields) : [];
  const lists = types.map(({ injectRequestHeaders }) => injectRequestHeaders).filter(Array.isArray);
  return lists.flat().flatMap(item => {
    const parsed = isFields(item)
      ? filterHeaders.safeParse([{ name: item.name, value: '' }])
      : undefined;
    return parsed?.data?.map(({ name }) => name.toLowerCase()) ?? [];
  });
}

/** That Filter's headers are set with its own. */
function salvageDelegate(spec: unknown): { delegate?: FilterName } {
  const oauth2 = isFields(spec) && isFields(spec.OAuth2) ? spec.OAuth2 : {};
  const parsed = filterName.safeParse(oauth2.accessTokenJWTFilter);
  return parsed.success ? { delegate: parsed.data } : {};
}

const filterName = z.object({ name: z.string(), namespace: z.string().exactOptional() });

const TARGETING: readonly string[] = ['FilterPolicy', 'RateLimit'];

/**
 * Returns the targets of a policy that has no rules. A section that cannot be read stands for all.
 * @returns undefined when it has no list of targets, so that the policy may be for anything
 */
function salvageTargets(spec: unknown): readonly PolicyTarget[] | undefined {
  if (!isFields(spec) || !Array.isArray(spec.targetRefs) || isFilled(spec.rules)) return undefined;
  const targets = spec.targetRefs.map(readTarget);
  const readable = targets.filter(target => target !== undefined);
  const isWhole = targets.length > 0 && readable.length === targets.length;
  return isWhole ? readable : [...readable, UNREADABLE_TARGET];
}

function isFilled(list: unknown): boolean {
  return list !== undefined && list !== null && !(Array.isArray(list) && list.length === 0);
}

function readTarget(target: unknown): PolicyTarget | undefined {
  const { sectionName, ...whole }: Readonly<Record<string, unknown>> = isFields(target)
    ? target
    : {};
  const section = sectionName === null ? undefined : sectionName;
  const parsed = policyTarget.safeParse({
    ...whole,
    ...(section === undefined ? {} : { sectionName: section }),
  });
  return parsed.data ?? policyTarget.safeParse(whole).data;
}

/** Returns none when it is unclear which rules were meant. */
function salvageRules(
  spec: unknown,
  findings: readonly Finding[],
): { rules?: readonly ReadableRule[] } {
  const rules = isFields(spec) ? spec.rules : undefined;
  const errors = findings.filter(({ severity }) => severity === 'error');
  const faulty = new Set(errors.map(({ path }) => placeOf(path)));
  if (
    !Array.isArray(rules) ||
    faulty.has(placeOf(['spec'])) ||
    faulty.has(placeOf(['spec', 'rules']))
  )
    return {};
  return { rules: rules.map((rule, index) => readRule(rule, ['spec', 'rules', index], faulty)) };
}

/** Returns one text for all spellings of a path's fields. */
function placeOf(path: FieldPath): string {
  return JSON.stringify(path).toLowerCase();
}

/** A missing field is `*`, as its default says. A field that cannot be read gives nothing. */
function readRule(rule: unknown, path: FieldPath, faulty: ReadonlySet<string>): ReadableRule {
  if (!isFields(rule) || faulty.has(placeOf(path))) return {};
  const [host, glob] = (['host', 'path'] as const).map(field =>
    faulty.has(placeOf([...path, field]))
      ? undefined
      : ruleMatchShape[field].safeParse(rule[field]).data,
  );
  return { ...(host === undefined ? {} : { host }), ...(glob === undefined ? {} : { path: glob }) };
}
