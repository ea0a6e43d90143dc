import { compareText } from '#resources/words/order.ts';
import type { ImportedDocument } from '../document.ts';
import { fieldsAt, textAt } from '../fields-at.ts';
import type { Imported } from '../imported.ts';
import { changed, closed, dropped, type PlacedRemark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { passOn } from './pass-on.ts';
import type { RuleEdit } from './rule-edits.ts';
import { type PolicyPart, securityPolicy } from './security-policy.ts';
import {
  type Covered,
  coveredBy,
  ENVOY_GATEWAY,
  GATEWAY_API,
  hasTarget,
  isStreamRoute,
} from './targets.ts';
import { backendTraffic, clientTraffic } from './traffic-policies.ts';

type Convert = (
  policy: SourceObject,
  rules: readonly Covered[],
  objects: readonly SourceObject[],
  /** Those of its kind that have precedence for the same target. */
  older: readonly SourceObject[],
) => PolicyPart;

const POLICIES: Readonly<Record<string, Convert>> = {
  SecurityPolicy: securityPolicy,
  BackendTrafficPolicy: backendTraffic,
  ClientTrafficPolicy: clientTraffic,
  EnvoyExtensionPolicy: (_policy, rules) => closing(rules, EXTENSION),
  EnvoyPatchPolicy: (_policy, rules) => closing(rules, PATCH),
};

/** A policy of a kind that is not known here. */
const unknownPolicy: Convert = (_policy, rules) => closing(rules, UNKNOWN);

function isPolicy({ group, kind }: SourceObject): boolean {
  return group === ENVOY_GATEWAY && (Object.hasOwn(POLICIES, kind) || kind.endsWith('Policy'));
}

const UNKNOWN = 'policies of this kind are not known here, and these may decide who passes';
const EXTENSION = 'the gateway runs no extensions, and these may decide who passes';
const PATCH = 'patches of Envoy cannot be expressed, and these may decide who passes';

function closing(rules: readonly Covered[], why: string): PolicyPart {
  const message = `${why}. Then write \`backendRefs\` into the rules again`;
  return {
    edits: rules.map(rule => ({ ...rule, isClosed: true })),
    documents: [],
    remarks: [closed(['spec'], message)],
  };
}

/**
 * Turns the policies of Envoy Gateway into Filters, and FilterPolicies for the same targets. The
 * objects of Gateway API stay, with the controller of this gateway.
 */
export function importEnvoyGateway(objects: readonly SourceObject[]): Imported {
  const known = Object.keys(POLICIES);
  const written = objects.filter(isPolicy).map(({ kind }) => kind);
  const kinds = new Set([...known, ...written]);
  const parts = [...kinds].flatMap(kind => convertAll(kind, objects));
  const edits = parts.flatMap(({ edits }) => edits);
  const kept = objects
    .filter(object => object.group === GATEWAY_API && !isLeftOut(object, edits))
    .map(object => passOn(object, edits));
  const others = objects.filter(object => OTHER_GROUPS.includes(object.group) && !isPolicy(object));
  return {
    documents: [
      ...kept.map(({ document }) => document),
      ...parts.flatMap(({ documents }) => documents),
    ],
    remarks: [
      ...parts.flatMap(({ remarks }) => remarks),
      ...objects
        .filter(object => isLeftOut(object, edits))
        .map(object => ({ ...closed(['spec'], LEFT_OUT), object })),
      ...kept.flatMap(({ remarks }) => remarks),
      ...others.map(object => ({ ...dropped(['kind'], otherKind(object)), object })),
    ],
  };
}

/** Beside theirs, what was tried out before it became part of Gateway API. */
const OTHER_GROUPS: readonly string[] = [ENVOY_GATEWAY, 'gateway.networking.x-k8s.io'];

/** No answer can close a route of bytes, so it is not written. */
function isLeftOut(object: SourceObject, edits: readonly RuleEdit[]): boolean {
  return isStreamRoute(object) && edits.some(edit => edit.isClosed && edit.route === object);
}

const LEFT_OUT =
  'it is not written, since a policy covers it that cannot be expressed. Write it when something else protects it';

type Converted = {
  readonly edits: readonly RuleEdit[];
  readonly documents: readonly ImportedDocument[];
  readonly remarks: readonly PlacedRemark[];
};

/**
 * Of several policies for a rule the most specific counts, and of those for one target the oldest.
 * A route of several listeners has one list of rules, so the policies of each of them count.
 */
function convertAll(kind: string, objects: readonly SourceObject[]): readonly Converted[] {
  const policies = objects.filter(each => each.group === ENVOY_GATEWAY && each.kind === kind);
  const ordered = policies.toSorted((a, b) => compareText(createdAt(a), createdAt(b)));
  const covering = ordered.map(policy => ({ policy, covered: coveredBy(policy, objects) }));
  const best = bestRanks(covering.flatMap(({ covered }) => covered));
  const taken = new Set<string>();
  return covering.map(({ covered, policy }, at) => {
    const own = covered.filter(rule => {
      const key = keyOf(rule);
      const place = `${key} ${rule.target}`;
      if (best.get(key) !== rule.rank || taken.has(place)) return false;
      taken.add(place);
      return true;
    });
    const convert = POLICIES[kind] ?? unknownPolicy;
    const { documents, edits, remarks } = convert(policy, own, objects, ordered.slice(0, at));
    const isWritten = documents.length > 0 && hasTarget(policy, objects);
    const isLost = covered.length === 0 && !isWritten;
    const all = isLost ? [dropped(['spec'], NO_TARGET)] : remarks;
    const isInForce = documents.some(({ kind: made }) => made === 'FilterPolicy');
    const isOfRoutes = kind !== 'BackendTrafficPolicy' && !isInForce;
    const narrow = covered.some(({ rank }) => rank <= 2) && isOfRoutes;
    return {
      documents: isLost ? [] : documents,
      edits,
      remarks: [...all, ...(narrow ? [changed(['spec'], ROUTES)] : [])].map(remark => ({
        ...remark,
        object: policy,
      })),
    };
  });
}

const NO_TARGET =
  'none of its targets is among the files, so that nothing of them is written. Name their files too';
const ROUTES =
  'it is for a whole Gateway, and protects the routes in these files alone. Import all routes together';

function createdAt({ fields }: SourceObject): string {
  return textAt(fieldsAt(fields, 'metadata'), 'creationTimestamp') ?? '';
}

function keyOf({ index, route }: Covered): string {
  return `${route.kind}/${route.namespace ?? 'default'}/${route.name}/${index}`;
}

function bestRanks(covered: readonly Covered[]): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  for (const rule of covered) {
    const key = keyOf(rule);
    best.set(key, Math.max(best.get(key) ?? 0, rule.rank));
  }
  return best;
}

function otherKind({ kind }: SourceObject): string {
  if (kind === 'Backend') return 'rules that send requests to it are answered 500. Write a Service';
  if (kind === 'XListenerSet')
    return 'routes that name it are attached to nothing. Write a ListenerSet of gateway.networking.k8s.io';
  if (kind === 'HTTPRouteFilter') return 'rules that name it are answered 500. Write a Filter';
  return 'the gateway has nothing like it. It has settings in its environment and in the Module';
}
