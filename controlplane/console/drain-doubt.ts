import { discoveredService } from '#controlplane/compile/clusters/mapping-cluster.ts';
import type { Figures, UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { Knowledge, ServiceInstances } from '#controlplane/knowledge/knowledge.ts';
import type { Drained } from '#files/drained-store.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { nameOf } from './views/instances.ts';

/** What tells whether a drain leaves a service alone. */
export type DrainFacts = {
  readonly knowledge: Pick<Knowledge, 'instances'>;
  readonly figures: Pick<Figures, 'upstreams'>;
  resources(): ResourceSet;
  drained(): readonly Drained[];
};

/**
 * Says why the drain of an instance may leave a service without one that answers. Rejects when the
 * discovery service knows no such instance.
 * @returns undefined when others stay in rotation
 */
export async function doubtOfDrain(
  instance: Drained,
  facts: DrainFacts,
): Promise<string | undefined> {
  if (facts.drained().some(each => nameOf(each) === nameOf(instance))) return undefined;
  const found = await facts.knowledge.instances([], instance).catch((error: Error) => error);
  if (found instanceof Error)
    return `It is unknown which instances stay, since discovery cannot be asked. ${found.message}.`;
  if (found.length === 0)
    throw new Error(`the discovery service knows no instance at ${nameOf(instance)}`);
  const out = new Set([...facts.drained(), instance].map(nameOf));
  const stays = ({ instances, more }: ServiceInstances) =>
    more || instances.some(each => each.healthy && !each.drained && !out.has(nameOf(each)));
  const alone = found.filter(service => !stays(service)).map(({ service }) => service);
  if (alone.length > 0) return `No instance of ${alone.join(', ')} would stay in rotation. ${THEN}`;
  const seen = onlyOneHealthy(found, facts);
  if (seen === undefined) return undefined;
  return `The proxies see 1 healthy instance of ${seen}, which may be this one. ${THEN}`;
}

const THEN = 'Without any, each request to it is answered 503 until one is back.';

/** Returns the service of which the proxies see several instances, and only one is healthy. */
function onlyOneHealthy(
  found: readonly ServiceInstances[],
  { figures, resources }: DrainFacts,
): string | undefined {
  const names = new Set(found.map(({ service }) => service));
  const services = new Map(
    resources().mappings.flatMap(({ id, spec }) => {
      const service = discoveredService(spec);
      return service !== undefined && names.has(service) ? [[id, service] as const] : [];
    }),
  );
  const isAlone = ({ healthy, members }: UpstreamFigures) => healthy === 1 && members > 1;
  const origins = figures
    .upstreams()
    .filter(isAlone)
    .flatMap(each => each.origins);
  return origins.flatMap(id => services.get(id) ?? [])[0];
}
