import { INSTANCES_OF, type ReportedFinding } from '#process/report.ts';
import { nearest } from '#resources/words/suggest.ts';
import type { Instances } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';

/** A name that clients asked for and that has no instances. */
export type MissedName = {
  readonly name: string;
  /** The service exists, without this port. It has these. Undefined: no such service is known. */
  readonly ports?: readonly string[];
  /** The known service that was probably meant. */
  readonly meant?: string;
};

export type MissedNames = {
  /** Records that a client asked for a name that no instance serves. */
  asked(name: string): void;
  /** Replaces the instances. */
  served(instances: Instances): void;
  names(): readonly MissedName[];
  /** Returns what the control plane can tell the operators who wrote these names. */
  findings(): readonly ReportedFinding[];
};

const MOST = 1_000;
/** A report holds this many of them beside findings about secrets. */
const MOST_REPORTED = 100;
/** Of more missed names none is compared with the known ones. */
const MOST_MEANT = 20;
/** A missed name is compared with this many. */
const MOST_COMPARED = 2_000;

/**
 * Reports each missed name once. It is reported again after it has existed meanwhile. Of very many
 * the latest are kept.
 */
export function missedNames(onMissed: (missed: MissedName) => void): MissedNames {
  const missed = new Map<string, MissedName>();
  let served: Instances = new Map();
  /** Made at the first miss, because one request may miss thousands of ports. */
  let ports: ReadonlyMap<string, readonly string[]> | undefined;
  const portsOf = (name: string) => {
    ports ??= portsByService(served);
    return ports.get(serviceOf(name)) ?? [];
  };
  const lookUp = (name: string): MissedName => {
    if (instancesNamed(served, name) !== undefined) return { name, ports: portsOf(name) };
    const mayCompare = missed.size < MOST_MEANT;
    const meant = mayCompare ? meantBy(name.replace(/:\d+$/, ''), served) : undefined;
    return { name, ...(meant === undefined ? {} : { meant }) };
  };
  return {
    asked(name) {
      const known = missed.get(name);
      const found = known?.ports === undefined && known?.meant === undefined ? lookUp(name) : known;
      // The latest are last.
      missed.delete(name);
      missed.set(name, found);
      if (known !== undefined) return;
      const [oldest] = missed.keys();
      if (oldest !== undefined && missed.size > MOST) missed.delete(oldest);
      onMissed(found);
    },
    served(instances) {
      served = instances;
      ports = undefined;
      for (const name of missed.keys()) {
        const members = instancesNamed(instances, name);
        if (members !== undefined && members !== NO_SUCH_PORT) missed.delete(name);
      }
    },
    names: () => [...missed.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    findings: () => [...missed.values()].slice(-MOST_REPORTED).map(toFinding),
  };
}

/** Returns the ports of each service, which ends with its colon. */
function portsByService(instances: Instances): ReadonlyMap<string, readonly string[]> {
  const names = [...instances].flatMap(([name, members]) =>
    members === NO_SUCH_PORT || serviceOf(name) === '' ? [] : [name],
  );
  const byService = Map.groupBy(names.sort(), serviceOf);
  return new Map(
    [...byService].map(([service, all]) => [service, all.map(name => name.slice(service.length))]),
  );
}

function serviceOf(name: string): string {
  return name.slice(0, name.lastIndexOf(':') + 1);
}

/** A misspelt name mostly keeps its first or its last letter. Plain names may lack a namespace. */
function meantBy(name: string, instances: Instances): string | undefined {
  const candidates: string[] = [];
  for (const known of instances.keys()) {
    if (known.includes(':')) continue;
    if (known.startsWith(`${name}.`)) return known;
    if (known[0] === name[0] || known.at(-1) === name.at(-1)) candidates.push(known);
    if (candidates.length >= MOST_COMPARED) break;
  }
  return nearest(name, candidates);
}

function toFinding({ meant, name, ports }: MissedName): ReportedFinding {
  const hint = meant === undefined ? '' : `, did you mean \`${meant}\`?`;
  const message =
    ports === undefined
      ? `the discovery service knows no "${name}"${hint}`
      : `the discovery service knows no instance of "${name}". The service has ${portList(ports)}`;
  return {
    resource: `${INSTANCES_OF}${name}`,
    field: '',
    severity: 'warning',
    message,
    outOfService: false,
  };
}

const MOST_PORTS = 10;

function portList(ports: readonly string[]): string {
  const more = ports.length > MOST_PORTS ? ', …' : '';
  return ports.length === 0
    ? 'no port'
    : `the ports ${ports.slice(0, MOST_PORTS).join(', ')}${more}`;
}
