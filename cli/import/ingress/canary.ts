import { quoteRegex } from '#controlplane/compile/quote-regex.ts';
import type { Fields } from '#resources/words/fields.ts';
import { changed, dropped, type PlacedRemark, type Remark } from '../remark.ts';
import { type Annotations, annotationPath } from './annotations.ts';
import { balancing } from './balancing.ts';
import { type Draft, draftKey } from './draft.ts';
import type { Surroundings } from './drafts.ts';
import type { Ingress, IngressPath } from './ingress.ts';
import { pathMatches } from './path-matches.ts';
import { hostsOf } from './server-aliases.ts';
import { serviceFields, unknownPort } from './service.ts';
import { numberOf } from './traffic.ts';

/** Drafts with those of canaries, and what these lose. */
export type WithCanaries = {
  readonly drafts: readonly Draft[];
  readonly remarks: readonly PlacedRemark[];
};

/**
 * Adds an Ingress that is a canary of others. Its annotations besides those of the canary and of
 * the balancing do not count, as in ingress-nginx. It takes requests on the aliases of a host too.
 */
export function withCanary(
  { drafts, remarks }: WithCanaries,
  canary: Ingress,
  { aliases, expressionHosts }: Pick<Surroundings, 'aliases' | 'expressionHosts'>,
): WithCanaries {
  const found = canary.paths.map(path => {
    const keys = pathMatches(path, expressionHosts.has(path.host)).matches.flatMap(match =>
      hostsOf(path.host, aliases).map(host =>
        draftKey({ spec: { ...(host === '*' ? {} : { host }), ...match } }),
      ),
    );
    return { path, mains: drafts.filter(draft => keys.includes(draftKey(draft))) };
  });
  const split = new Map(
    found.flatMap(({ mains, path }) =>
      mains.map(main => [main, splitDraft(main, canary, path)] as const),
    ),
  );
  const alone = found.filter(({ mains }) => mains.length === 0);
  return {
    drafts: drafts.flatMap(draft => split.get(draft) ?? [draft]),
    remarks: [
      ...remarks,
      ...[
        ...alone.map(({ path }) => withoutMain(path)),
        ...canary.paths.flatMap(({ at, backend }) =>
          backend === undefined ? [] : unknownPort(backend, at),
        ),
        ...rounding(canary.annotations),
      ].map(remark => ({ ...remark, object: canary.object })),
    ],
  };
}

function withoutMain({ at, host, path }: IngressPath): Remark {
  return dropped(at, `no other Ingress has ${host}${path}, so that there is nothing to split`);
}

/** Returns the draft and what takes requests from it. */
function splitDraft(main: Draft, canary: Ingress, path: IngressPath): readonly Draft[] {
  const { annotations } = canary;
  const aside: Draft = { ...main, spec: { ...main.spec, ...canaryFields(main, canary, path) } };
  const weight = weightOf(annotations);
  const cookie = annotations.get('canary-by-cookie');
  const header = byHeader(annotations);
  const later = [
    ...(cookie === undefined
      ? []
      : [
          on(aside, { regex_headers: { cookie: cookieIs(cookie, 'always') } }, 'canary-2-cookie'),
          ...(weight > 0
            ? [on(main, { regex_headers: { cookie: cookieIs(cookie, 'never') } }, 'canary-2-not')]
            : []),
        ]),
    ...(weight > 0 ? [on(aside, { weight }, 'canary-3-weight')] : []),
  ];
  return [
    weight > 0 ? { ...main, spec: { ...main.spec, weight: WHOLE - weight } } : main,
    ...(header === undefined ? [] : [on(aside, header.always, 'canary-1-header')]),
    ...(header?.never === undefined || later.length === 0
      ? []
      : [on(main, header.never, 'canary-1-not')]),
    ...later,
  ];
}

const WHOLE = 100;

/** Of two Mappings with one condition each the name decides, so the header goes first. */
function on(draft: Draft, fields: Fields, suffix: string): Draft {
  return { ...draft, spec: { ...draft.spec, ...fields }, suffix };
}

function canaryFields({ ingress }: Draft, canary: Ingress, path: IngressPath): Fields {
  const { namespace } = canary.object;
  const elsewhere = namespace === ingress.object.namespace ? undefined : (namespace ?? 'default');
  const { backend = { service: 'closed' } } = path;
  return {
    ...serviceFields(backend, ingress.annotations, elsewhere),
    ...(unknownPort(backend, path.at).length > 0 || path.backend === undefined
      ? { closed: true }
      : {}),
    ...balancing(canary.annotations, path.path).fields,
  };
}

type Header = { readonly always: Fields; readonly never?: Fields };

function byHeader(annotations: Annotations): Header | undefined {
  const name = annotations.get('canary-by-header')?.toLowerCase();
  if (name === undefined) return undefined;
  const value = annotations.get('canary-by-header-value');
  if (value !== undefined) return { always: { headers: { [name]: value } } };
  const pattern = annotations.get('canary-by-header-pattern');
  // nginx looks for a part of the value. A Mapping compares all of it.
  if (pattern !== undefined) return { always: { regex_headers: { [name]: `.*(?:${pattern}).*` } } };
  return { always: { headers: { [name]: 'always' } }, never: { headers: { [name]: 'never' } } };
}

function cookieIs(name: string, value: string): string {
  return `(?:.*;\\s*)?${quoteRegex(name)}=${value}(?:\\s*;.*)?`;
}

function weightOf(annotations: Annotations): number {
  const weight = numberOf(annotations.get('canary-weight')) ?? 0;
  const share = (weight * WHOLE) / totalOf(annotations);
  return Math.min(WHOLE, weight > 0 ? Math.max(1, Math.round(share)) : 0);
}

function totalOf(annotations: Annotations): number {
  return numberOf(annotations.get('canary-weight-total')) || WHOLE;
}

function rounding(annotations: Annotations): readonly Remark[] {
  const weight = numberOf(annotations.get('canary-weight')) ?? 0;
  if ((weight * WHOLE) % totalOf(annotations) === 0) return [];
  const message = `${weight} of ${totalOf(annotations)} is ${weightOf(annotations)} percent here: a weight is a whole percentage`;
  return [changed(annotationPath('canary-weight'), message)];
}
