import { problemOf } from '#controlplane/compile/problem-of.ts';
import { effective, type Rollout } from '#controlplane/rollout/rollout.ts';
import { decodeReport, type ReportedFinding } from '#process/report.ts';
import type { Any } from '#protos/encode.ts';
import type { Kind } from '#resources/kinds/kinds.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';

/** Of all streams together: others are not shown. */
const MOST_PROBLEMS = 1_000;

/**
 * What services report of the resources that they were sent, stream by stream, as Problems. What
 * several say alike, or one by several streams, is said once.
 */
export class Reports {
  readonly #streams = new Map<number, readonly ReportedFinding[]>();

  /**
   * What the stream says from now on; undefined: nothing, or it is over. Gives why it cannot be
   * taken: then what it said before stays. What it says of a resource of another kind than `kind`
   * is left out.
   */
  take(stream: number, report: Any | undefined, kind?: Kind): string | undefined {
    const decoded = report === undefined ? [] : decodeReport(report);
    if ('error' in decoded) return decoded.error;
    const findings = decoded.filter(
      ({ resource }) => kind === undefined || resource.startsWith(`${kind}/`),
    );
    this.#streams.delete(stream);
    if (findings.length > 0) this.#streams.set(stream, findings);
    return undefined;
  }

  /**
   * With the places where the resources are written, in an order that does not depend on who came
   * first. What is said of others is left out: they are gone, which the service will hear, or not
   * yet known here, or those of another gateway whose services report here as well.
   */
  problems(rollout: Rollout): readonly Problem[] {
    const findings = [...this.#streams.values()].flat();
    if (findings.length === 0) return [];
    const served = effective(rollout);
    const problems = findings.flatMap(finding => {
      const resource = rollout.wanted.get(finding.resource) ?? served.get(finding.resource);
      return resource === undefined ? [] : toProblem(finding, resource);
    });
    const said = problems.map(problem => [JSON.stringify(problem), problem] as const);
    const different = [...new Map(said)].sort(([a], [b]) => (a < b ? -1 : 1));
    return different.slice(0, MOST_PROBLEMS).map(([, problem]) => problem);
  }

  /** The ids of resources that do not work at all, as somebody finds. */
  outOfService(): ReadonlySet<string> {
    const findings = [...this.#streams.values()].flat();
    return new Set(
      findings.flatMap(({ resource, outOfService }) => (outOfService ? resource : [])),
    );
  }
}

function toProblem({ field, severity, message }: ReportedFinding, resource: Resource): Problem {
  if (field !== '') return problemOf(resource, severity, field, message);
  const { kind, namespace, name, source } = resource;
  return { severity, kind, namespace, name, ...source, message };
}
