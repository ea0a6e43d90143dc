import { decodeReport, type ReportedFinding } from '#process/report.ts';
import type { Any } from '#protos/encode.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource, Source } from '#resources/resource.ts';
import { effective, type Rollout } from './rollout.ts';

/** Of all streams together: others are not shown. */
const MOST_FINDINGS = 1_000;

const NOTHING: ReadonlyMap<string, Resource> = new Map();
const NOWHERE: Source = { file: '', line: 0 };

/** What services report of the resources that they were sent, stream by stream, as Problems. What several say alike is said once. */
export class Reports {
  readonly #streams = new Map<number, readonly ReportedFinding[]>();
  /** Where resources are that are reported of: one that is removed is told of by its services a moment later. */
  #sources: ReadonlyMap<string, Source> = new Map();

  /** What the stream says from now on; undefined: nothing. Gives why it cannot be taken: then what it said before stays. */
  take(stream: number, report: Any | undefined): string | undefined {
    const findings = report === undefined ? [] : decodeReport(report);
    if ('error' in findings) return findings.error;
    this.drop(stream);
    if (findings.length > 0) this.#streams.set(stream, findings);
    return undefined;
  }

  /** The stream is over. */
  drop(stream: number): void {
    this.#streams.delete(stream);
  }

  /** With the places where the resources are written. One that is not known is shown by its id alone. */
  problems(rollout: Rollout): readonly Problem[] {
    const findings = this.#findings();
    const served = findings.length === 0 ? NOTHING : effective(rollout);
    const sources = new Map<string, Source>();
    for (const { resource } of findings) {
      const known = rollout.wanted.get(resource) ?? served.get(resource);
      const source = known?.source ?? this.#sources.get(resource);
      if (source !== undefined) sources.set(resource, source);
    }
    this.#sources = sources;
    const problems = findings.map(finding => toProblem(finding, sources.get(finding.resource) ?? NOWHERE));
    return [...new Map(problems.map(problem => [JSON.stringify(problem), problem])).values()];
  }

  /** The ids of resources that do not work at all, as somebody finds. */
  outOfService(): ReadonlySet<string> {
    return new Set(this.#findings().flatMap(({ resource, outOfService }) => (outOfService ? resource : [])));
  }

  /** In an order that does not depend on who came first. */
  #findings(): readonly ReportedFinding[] {
    const said = [...this.#streams.values()]
      .flat()
      .map(finding => [JSON.stringify(finding), finding] as const);
    const different = [...new Map(said)].sort(([a], [b]) => (a < b ? -1 : 1));
    return different.slice(0, MOST_FINDINGS).map(([, finding]) => finding);
  }
}

function toProblem({ resource, field, severity, message }: ReportedFinding, source: Source): Problem {
  const [kind = '', namespace = '', ...name] = resource.split('/');
  const about = { severity, kind, namespace, name: name.join('/'), ...source, message };
  return field === '' ? about : { ...about, field };
}
