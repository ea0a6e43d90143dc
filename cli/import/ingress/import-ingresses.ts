import { compareText } from '#resources/words/order.ts';
import { ourDocument } from '../document.ts';
import type { Imported } from '../imported.ts';
import { dropped, type PlacedRemark } from '../remark.ts';
import type { SourceObject } from '../source-object.ts';
import { HOST_WIDE } from './access.ts';
import { annotationPath } from './annotations.ts';
import { type WithCanaries, withCanary } from './canary.ts';
import { controllerRestrictions } from './controller-config.ts';
import { closeDraft, type Draft, draftKey, inOrder } from './draft.ts';
import { draftIngress } from './drafts.ts';
import { withoutTold } from './headers.ts';
import { rankHosts } from './host-ranks.ts';
import { planHosts } from './hosts.ts';
import { type Ingress, isIngress, readIngress } from './ingress.ts';
import { makesExpressions } from './rewrite.ts';
import { type Aliases, aliasesOf, hostsOf } from './server-aliases.ts';
import { withPortNumber } from './service.ts';

/**
 * Turns the Ingresses of a class into Hosts, Mappings, RateLimits and TLSContexts. Those that name
 * no class belong to each.
 */
export function importIngresses(objects: readonly SourceObject[], className: string): Imported {
  const all = objects
    .filter(isIngress)
    .map(object => withPortNumbers(readIngress(object), objects));
  const ours = all.filter(ingress => (ingress.className ?? className) === className);
  const ordered = ours.toSorted((a, b) => compareText(a.created, b.created));
  const [mains, canaries] = split(ordered, ({ annotations }) => !annotations.on('canary'));
  const aliases = aliasesOf(mains);
  const hostsWith = (test: (ingress: Ingress) => boolean) => allHosts(mains.filter(test), aliases);
  const expressionHosts = hostsWith(({ annotations }) => makesExpressions(annotations));
  const hosts = hostsWith(() => true);
  const drafted = mains.map(main =>
    draftIngress(main, { objects, aliases, expressionHosts, hosts }),
  );
  const first = withoutRepeated(drafted.flatMap(({ drafts }) => drafts));
  const { drafts, remarks } = canaries.reduce<WithCanaries>(
    (before, canary) => withCanary(before, canary, { aliases, expressionHosts }),
    first,
  );
  const plan = planHosts(mains, new Set(drafts.map(({ host }) => host)), aliases);
  const ranked = rankHosts(drafts);
  const closedHosts = new Set([...plan.closed, ...hostsWith(closesHost(drafted, mains))]);
  const askedHosts = hostsWith(({ annotations }) => annotations.names.includes('auth-tls-secret'));
  const everywhere = mains.length === 0 ? [] : controllerRestrictions(objects);
  const mappings = ranked.drafts
    .map(draft => (askedHosts.has(draft.host) ? withoutTold(draft) : draft))
    .map(draft =>
      everywhere.length > 0 || closedHosts.has(draft.host) ? closeDraft(draft) : draft,
    );
  return {
    documents: [
      ...plan.documents,
      ...nameMappings(mappings),
      ...drafted.flatMap(({ documents }) => documents),
    ],
    remarks: [
      ...all.filter(ingress => !ours.includes(ingress)).map(ofOtherClass),
      ...drafted.flatMap(({ remarks }) => remarks),
      ...plan.remarks,
      ...everywhere,
      ...remarks,
      ...ranked.remarks,
    ],
  };
}

function withPortNumbers(ingress: Ingress, objects: readonly SourceObject[]): Ingress {
  const { namespace } = ingress.object;
  const { defaultBackend, paths } = ingress;
  return {
    ...ingress,
    paths: paths.map(path =>
      path.backend === undefined
        ? path
        : { ...path, backend: withPortNumber(path.backend, namespace, objects) },
    ),
    ...(defaultBackend === undefined
      ? {}
      : { defaultBackend: withPortNumber(defaultBackend, namespace, objects) }),
  };
}

function split<T>(items: readonly T[], test: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(test), items.filter(item => !test(item))];
}

/** Returns the hosts of the rules of these Ingresses, with their aliases. */
function allHosts(ingresses: readonly Ingress[], aliases: Aliases): ReadonlySet<string> {
  return new Set(
    ingresses.flatMap(({ paths }) => paths.flatMap(({ host }) => hostsOf(host, aliases))),
  );
}

/** Returns whether an Ingress has an annotation for its whole hosts that closes. */
function closesHost(
  drafted: readonly { readonly remarks: readonly PlacedRemark[] }[],
  mains: readonly Ingress[],
): (ingress: Ingress) => boolean {
  const wide = HOST_WIDE.map(name => annotationPath(name)[2]);
  return ingress => {
    const { remarks = [] } = drafted[mains.indexOf(ingress)] ?? {};
    return remarks.some(({ effect, path }) => effect === 'closed' && wide.includes(path[2]));
  };
}

/** Of two Ingresses with one host and path the older one counts, as in ingress-nginx. */
function withoutRepeated(drafts: readonly Draft[]): WithCanaries {
  const first = new Map<string, Draft>();
  const remarks: PlacedRemark[] = [];
  for (const draft of drafts) {
    const key = draftKey(draft);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, draft);
    else if (earlier.ingress !== draft.ingress) remarks.push(repeated(draft, earlier));
  }
  return { drafts: [...first.values()], remarks };
}

function repeated({ host, ingress, spec }: Draft, { ingress: earlier }: Draft): PlacedRemark {
  const { name, namespace = 'default' } = earlier.object;
  return {
    ...dropped(['spec', 'rules'], `${namespace}/${name} has ${host}${spec.prefix} before it`),
    object: ingress.object,
  };
}

function ofOtherClass({ className, object }: Ingress): PlacedRemark {
  const path = ['spec', 'ingressClassName'];
  const why = `it is for the controller of "${className}". Name its class with --ingress-class`;
  return { ...dropped(path, why), object };
}

/** Numbers the Mappings of each Ingress. */
function nameMappings(drafts: readonly Draft[]) {
  const count = new Map<Ingress, number>();
  return drafts.map(({ ingress, spec, suffix }) => {
    const number = (count.get(ingress) ?? 0) + (suffix?.startsWith('canary-') ? 0 : 1);
    count.set(ingress, number);
    const ending = suffix === undefined ? '' : `-${suffix}`;
    return ourDocument(
      'Mapping',
      ingress.object,
      `${ingress.object.name}-${number}${ending}`,
      inOrder(spec),
    );
  });
}
