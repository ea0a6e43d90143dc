import { closedMapping } from '#controlplane/compile/close-mappings.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import { delegateOf, injectedBy } from '#resources/kinds/filter/injected-headers.ts';
import { selectorOf } from '#resources/kinds/host/host-selector.ts';
import { isGatewayApiKind } from '#resources/kinds/known-kinds.ts';
import { salvageListeners } from '#resources/parse/salvage-listeners.ts';
import { salvageRoute } from '#resources/parse/salvage-route.ts';
import { salvageVirtualHosts } from '#resources/parse/salvage-virtual-hosts.ts';
import type { Problem } from '#resources/problem.ts';
import { formatSource, type Rejected, type Resource } from '#resources/resource.ts';
import type { LostRule } from './lost-rules.ts';
import type { Quarantined } from './rollout.ts';
import { mayPass } from './taken-ports.ts';

/**
 * Returns the Problem for a mistake that only the proxies found. It names the resource and its
 * fate.
 */
export function quarantineProblem(
  resource: Resource,
  rejected: Quarantined,
  keptLastGood: boolean,
): Problem {
  const { kind, namespace, name, source } = resource;
  const instead = keptLastGood
    ? 'Its last good version stays in force'
    : 'It is left out, and what it matches is closed';
  const again =
    !keptLastGood && mayPass(rejected.message)
      ? 'It is tried again at least every minute'
      : 'Edit it to try it again';
  return {
    severity: 'error',
    kind,
    namespace,
    name,
    ...source,
    message: `Envoy rejects it: ${rejected.message.trim()}. ${instead}. ${again}`,
  };
}

/** Returns the Problem for a resource whose last good version would be open without this rule. */
export function lostRuleProblem(
  resource: Resource | Rejected,
  { by: { kind, namespace, name }, restricts }: LostRule,
): Problem {
  const message = `its last good version does not stay in force, because ${restrictionText(restricts)} in ${kind} ${namespace}/${name} that it was under does not. What can be read of the ${resource.kind} answers 500`;
  return problemOf(resource, 'error', 'spec', message);
}

function restrictionText(restricts: LostRule['restricts']): string {
  if ('demand' in restricts) return `the demand for ${restricts.demand}`;
  return 'rule' in restricts
    ? `the rule for path ${restricts.rule.path} of host ${restricts.rule.host}`
    : `the target ${restricts.target.kind} ${restricts.target.name}`;
}

/** Returns the Problem for a node group that gets nothing new, since none can be made for it. */
export function unmadeProblem(group: string, error: string, isService: boolean): Problem {
  const message = `no configuration can be made for node group ${group}: ${error}. What it has stays. This is a mistake of the gateway: undo the last change, or go back to the version before`;
  return systemProblem(isService ? 'Service' : 'Envoy', group, message);
}

/** Returns the Problem for a fault of the system rather than of one resource. */
export function systemProblem(kind: string, name: string, message: string): Problem {
  return { severity: 'error', kind, namespace: '', name, file: '', line: 0, message };
}

/**
 * Returns a rejected resource without a last good version as closed. Its traffic must not fall
 * through to a wider match.
 */
export function closedResource(resource: Resource): Rejected {
  const { kind, namespace, name, id, source, unserved } = resource;
  if (resource.kind === 'FilterPolicy') {
    const rules = resource.spec.rules.map(({ host, path }) => ({ host, path }));
    const { targetRefs: targets } = resource.spec;
    return { kind, namespace, name, id, source, rules, ...(targets && { targets }) };
  }
  if (resource.kind === 'RateLimit' && resource.spec.targetRefs !== undefined)
    return { kind, namespace, name, id, source, targets: resource.spec.targetRefs };
  if (resource.kind === 'BackendTLSPolicy')
    return { kind, namespace, name, id, source, targets: resource.spec.targetRefs };
  if (resource.kind === 'Host') {
    const { spec } = resource;
    return { kind, namespace, name, id, source, hosts: [spec.hostname], ...selectorOf(spec) };
  }
  if (resource.kind === 'TLSContext')
    return { kind, namespace, name, id, source, hosts: resource.spec.hosts };
  if (resource.kind === 'Filter') {
    const delegate = delegateOf(resource);
    const injects = injectedBy(resource);
    return { kind, namespace, name, id, source, injects, ...(delegate && { delegate }) };
  }
  if (resource.kind === 'Gateway') {
    const { gatewayClassName: gatewayClass } = resource.spec;
    const listeners = salvageListeners(resource.spec);
    return { kind, namespace, name, id, source, gatewayClass, ...listeners };
  }
  if (resource.kind === 'ListenerSet')
    return { kind, namespace, name, id, source, ...salvageListeners(resource.spec) };
  if (resource.kind === 'ProxyConfig')
    return { kind, namespace, name, id, source, ...salvageVirtualHosts(resource.spec) };
  const route = isGatewayApiKind(kind) ? salvageRoute(kind, resource.spec) : undefined;
  if (route !== undefined) {
    const { created } = resource.metadata ?? {};
    return { kind, namespace, name, id, source, route, ...(created !== undefined && { created }) };
  }
  if (resource.kind === 'Mapping') return closedMapping(resource);
  return { kind, namespace, name, id, source, ...(unserved && { unserved }) };
}

/**
 * Formats a Problem in one line: `error: Mapping default/user (routes.yaml:3, spec.service): …`.
 */
export function describeProblem(problem: Problem): string {
  return `${problem.severity}: ${problemText(problem)}`;
}

/** Formats a Problem without its severity, for places that show it separately. */
export function problemText({
  kind,
  namespace,
  name,
  file,
  line,
  field,
  message,
  since,
}: Problem): string {
  const id = [namespace, name].filter(part => part !== '').join('/');
  const what = [kind, id].filter(part => part !== '').join(' ');
  const place = [formatSource({ file, line }), field ?? ''].filter(part => part !== '').join(', ');
  const began = since === undefined ? '' : `. Since ${since.replace(/\.\d+Z$/, 'Z')}`;
  const text = `${[what, place === '' ? '' : `(${place})`].filter(part => part !== '').join(' ')}: ${message}${began}`;
  return escapeControls(text);
}

/**
 * Up to this many similar warnings about different resources are shown. Of more, only the first is.
 */
const MOST_ALIKE = 3;

/** This many names of the others are shown. */
const MOST_NAMES = 5;

/**
 * Returns the Problems, with one in place of many warnings that say the same of different
 * resources.
 */
export function withoutAlike(problems: readonly Problem[]): readonly Problem[] {
  const groups = Map.groupBy(problems, sayingOf);
  return [...groups.values()].flatMap(group => {
    const [first, ...others] = group;
    if (first === undefined || first.severity === 'error' || group.length <= MOST_ALIKE)
      return group;
    const names = others.slice(0, MOST_NAMES).map(({ namespace, name }) => `${namespace}/${name}`);
    const rest = others.length > MOST_NAMES ? [`and ${others.length - MOST_NAMES} more`] : [];
    const same = `the same for ${[...names, ...rest].join(', ')}`;
    return [{ ...first, message: `${first.message} (${same})` }];
  });
}

function sayingOf({ severity, kind, field = '', message }: Problem): string {
  return JSON.stringify([severity, kind, field.replace(/\[\d+\]/g, ''), message]);
}

/** Characters of control, also of lines and of the direction in which text is shown. */
const CONTROLS = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Escapes control characters. Text of operators and names of clients may hold them, and they would
 * break the line, show it in another order or act on a terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escapeControl);
}

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
