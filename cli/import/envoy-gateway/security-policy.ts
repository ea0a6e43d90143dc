import type { Fields } from '#resources/words/fields.ts';
import { type ImportedDocument, ourDocument } from '../document.ts';
import { fieldsAt, listAt } from '../fields-at.ts';
import { closed, type Remark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { corsFilter } from './cors.ts';
import { jwtFilter } from './jwt.ts';
import { oidcFilter } from './oidc.ts';
import { originsOf } from './origins.ts';
import type { RuleEdit } from './rule-edits.ts';
import {
  isHttpRoute,
  type Rule,
  sameNamespace,
  targetKey,
  targetRefs,
  targetsOf,
} from './targets.ts';

/** What a policy becomes, for the rules that it decides about. */
export type PolicyPart = {
  readonly edits: readonly RuleEdit[];
  readonly documents: readonly ImportedDocument[];
  readonly remarks: readonly Remark[];
};

/** Fields that restrict access and cannot be expressed. */
const RESTRICTING: Readonly<Record<string, string>> = {
  extAuth:
    'the gateway asks no service of yours whether a request may pass. Write a Filter with `OAuth2` or `JWT`',
  apiKeyAuth: 'the gateway knows no keys of clients. Write a Filter with `JWT`',
  basicAuth: 'the gateway checks no passwords of its own. Write a Filter with `OAuth2`',
};

const NAMES = ['cors', 'oidc', 'jwt', 'authorization', ...Object.keys(RESTRICTING)];
const TARGETS = ['targetRef', 'targetRefs', 'targetSelectors', 'mergeType'];

/** Returns Filters of ours, and a FilterPolicy for the same targets. */
export function securityPolicy(
  policy: SourceObject,
  rules: readonly Rule[],
  objects: readonly SourceObject[],
  older: readonly SourceObject[],
): PolicyPart {
  const spec = fieldsAt(policy.fields, 'spec');
  const routes = [...new Set(rules.map(({ route }) => route))].filter(isHttpRoute);
  const origins = routes.flatMap(route => originsOf(route, objects));
  const oidc = spec.oidc === undefined ? undefined : oidcFilter(policy, origins);
  const jwt = spec.jwt === undefined ? undefined : jwtFilter(policy.fields);
  const cors = corsFilter(spec.cors);
  const remarks = [
    ...(oidc?.remarks ?? []),
    ...(jwt?.remarks ?? []),
    ...cors.remarks,
    ...unexpressed(spec),
  ];
  if (remarks.some(({ effect }) => effect === 'closed'))
    return { edits: rules.map(rule => ({ ...rule, isClosed: true })), documents: [], remarks };
  const filters = [
    ...(oidc?.spec === undefined ? [] : [{ name: `${policy.name}-oidc`, spec: oidc.spec }]),
    ...(jwt?.spec === undefined ? [] : [{ name: `${policy.name}-jwt`, spec: jwt.spec }]),
  ];
  const isOptional = fieldsAt(spec, 'jwt').optional === true;
  const named = filters.map(({ name }) => ({ name, ...(isOptional ? WITH_TOKEN : {}) }));
  return {
    edits: rules
      .filter(({ route }) => route.kind === 'HTTPRoute')
      .map(rule => ({ ...rule, filters: cors.filters })),
    documents: [
      ...filters.map(({ name, spec: own }) => ourDocument('Filter', policy, name, own)),
      ...policiesFor(policy, named, objects, older),
    ],
    remarks,
  };
}

const WITH_TOKEN = { ifRequestHeader: { name: 'authorization' } };

/**
 * Returns the FilterPolicies for the targets of a policy. Without Filters one counts too, since it
 * stands in the way of those for wider targets. The targets of older policies are theirs.
 */
function policiesFor(
  policy: SourceObject,
  filters: readonly Fields[],
  objects: readonly SourceObject[],
  older: readonly SourceObject[],
): readonly ImportedDocument[] {
  const same = older.filter(other => sameNamespace(other, policy));
  const taken = same.flatMap(other => targetsOf(other, objects)).map(targetKey);
  const targets = targetsOf(policy, objects).filter(target => !taken.includes(targetKey(target)));
  return targetRefs(targets).map((refs, at) =>
    ourDocument('FilterPolicy', policy, at === 0 ? policy.name : `${policy.name}-${at + 1}`, {
      targetRefs: refs,
      filters,
    }),
  );
}

function unexpressed(spec: Fields): readonly Remark[] {
  const path = (field: string) => ['spec', field];
  const restricting = Object.entries(RESTRICTING).filter(([field]) => spec[field] !== undefined);
  const unknown = Object.keys(spec).filter(field => ![...NAMES, ...TARGETS].includes(field));
  return [
    ...restricting.map(([field, why]) => closed(path(field), `${why}. ${REPAIR}`)),
    ...(spec.authorization !== undefined && !isOpen(spec.authorization)
      ? [closed(path('authorization'), `${RULES}. ${REPAIR}`)]
      : []),
    ...(spec.oidc !== undefined && spec.jwt !== undefined
      ? [closed(path('jwt'), `${BOTH}. ${REPAIR}`)]
      : []),
    ...unknown.map(field => closed(path(field), `it is not known here. ${REPAIR}`)),
    ...(spec.mergeType === undefined ? [] : [closed(path('mergeType'), `${MERGED}. ${REPAIR}`)]),
  ];
}

const REPAIR = 'Then write `backendRefs` into the rules again';
const RULES =
  'rules about addresses, claims and headers are not served. Write `scope` into a FilterPolicy, or let the services decide';
const MERGED =
  'policies do not merge, so that this one would open what that of the Gateway protects. Write Filters of both into one FilterPolicy';
const BOTH =
  'a login and tokens of other providers together need a FilterPolicy. `accessTokenJWTFilter` of the login names the Filter for its own tokens';

function isOpen(authorization: unknown): boolean {
  return (
    fieldsAt(authorization).defaultAction === 'Allow' && listAt(authorization, 'rules').length === 0
  );
}
