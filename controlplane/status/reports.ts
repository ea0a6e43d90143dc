import { SDS } from '#controlplane/compile/node-groups.ts';
import { problemOf } from '#controlplane/compile/problem-of.ts';
import { systemProblem } from '#controlplane/rollout/problems.ts';
import { effective, type Rollout } from '#controlplane/rollout/rollout.ts';
import {
  decodeReport,
  INSTANCES_FILE,
  INSTANCES_OF,
  type ReportedFinding,
} from '#process/report.ts';
import type { Any } from '#protos/encode.ts';
import type { Kind } from '#resources/kinds/known-kinds.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';

/** The maximum of all streams together. Others are not shown. */
const MOST_PROBLEMS = 1_000;

/**
 * Collects the services' reports on the resources that they were sent, stream by stream, as
 * Problems. Equal reports of several services or streams appear once. `now` is in ms since the
 * epoch.
 */
export class Reports {
  readonly #streams = new Map<number, readonly ReportedFinding[]>();
  /** When the first of the streams that report now began to find something at a place. */
  #since = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Replaces the report of a stream. `undefined` is an empty report or an ended stream. Problems
   * with resources of another kind than `kind` are left out. Returns why the report was rejected,
   * in which case the earlier one stays.
   */
  take(stream: number, report: Any | undefined, kind?: Kind): string | undefined {
    const decoded = report === undefined ? [] : decodeReport(report);
    if ('error' in decoded) return decoded.error;
    const findings = decoded.filter(
      ({ resource }) => kind === undefined || resource.startsWith(`${kind}/`),
    );
    this.#streams.delete(stream);
    if (findings.length > 0) this.#streams.set(stream, findings);
    const places = [...this.#streams.values()].flat().map(placeOf);
    const now = this.#now();
    this.#since = new Map(places.map(place => [place, this.#since.get(place) ?? now]));
    return undefined;
  }

  /**
   * Returns the Problems with the places of their resources, and those of instances files, in an
   * order that does not depend on arrival. Reports on unknown resources are left out. They are
   * gone, which the service will hear, or not yet known here, or belong to another gateway whose
   * services report here as well.
   */
  problems(rollout: Rollout): readonly Problem[] {
    const findings = [...this.#streams.values()].flat();
    if (findings.length === 0) return [];
    const served = effective(rollout);
    const problems = findings.flatMap(finding => {
      const resource = rollout.wanted.get(finding.resource) ?? served.get(finding.resource);
      const isOfFile = finding.resource.startsWith(INSTANCES_FILE);
      if (resource === undefined && !isOfFile) return [];
      const since = new Date(this.#since.get(placeOf(finding)) ?? this.#now()).toISOString();
      return { ...toProblem(finding, resource), since, reported: true as const };
    });
    const said = problems.map(problem => [JSON.stringify(problem), problem] as const);
    const different = [...new Map(said)].sort(([a], [b]) => (a < b ? -1 : 1));
    return different.slice(0, MOST_PROBLEMS).map(([, problem]) => problem);
  }

  /** Returns what the discovery service says of names that proxies ask for and it does not know. */
  missing(): ReadonlyMap<string, string> {
    const findings = [...this.#streams.values()].flat();
    return new Map(
      findings.flatMap(({ message, resource }) =>
        resource.startsWith(INSTANCES_OF)
          ? [[resource.slice(INSTANCES_OF.length), message] as const]
          : [],
      ),
    );
  }

  /** Returns the ids of resources that a service reports as not working at all. */
  outOfService(): ReadonlySet<string> {
    const findings = [...this.#streams.values()].flat();
    return new Set(
      findings.flatMap(({ resource, outOfService }) => (outOfService ? resource : [])),
    );
  }
}

function placeOf({ resource, field }: ReportedFinding): string {
  return JSON.stringify([resource, field]);
}

/** What is about no resource is about the discovery service, which reads the instances files. */
function toProblem(
  { field, severity, message }: ReportedFinding,
  resource: Resource | undefined,
): Problem {
  if (resource === undefined) return { ...systemProblem('Service', SDS, message), severity };
  if (field !== '') return problemOf(resource, severity, field, message);
  const { kind, namespace, name, source } = resource;
  return { severity, kind, namespace, name, ...source, message };
}
