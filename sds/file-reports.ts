import type { Logger } from 'pino';
import { INSTANCES_FILE } from '#process/report.ts';
import type { Report } from '#process/reporter.ts';
import type { FileSourceOptions } from './instances/file-source.ts';
import type { Metrics } from './metrics.ts';

export type FileReports = Pick<FileSourceOptions, 'onRead'> & {
  /** Returns what is wrong with the file now. */
  problems(): readonly string[];
};

/** A report to the control plane holds this many mistakes of a file. */
const MOST_MISTAKES = 10;

/** Tells what is wrong with an instances file: in the log, metrics, and to the control plane. */
export function fileReports(
  path: string,
  { log, metrics, report }: { log: Logger; metrics: Metrics; report: Report },
): FileReports {
  let told: readonly string[] = [];
  return {
    onRead({ hasEarlier, isMissing, problems }) {
      const instead = hasEarlier
        ? 'What was read last stays in force'
        : 'Nothing was read before that could stand in for it';
      const missing = isMissing ? [`the instances file ${path} is missing. ${instead}`] : [];
      for (const message of missing) log.warn({ file: path, reported: true }, message);
      const wrong = problems.map(({ line, message }, at) => {
        metrics.fileProblem();
        const said = `${path}:${line}: ${message}. ${instead}`;
        log.error({ file: `${path}:${line}`, reported: at < MOST_MISTAKES }, said);
        return said;
      });
      told = [...missing, ...wrong];
      report(() =>
        told.slice(0, MOST_MISTAKES).map(message => ({
          resource: `${INSTANCES_FILE}${path}`,
          field: '',
          // There may be no file yet, which is no mistake.
          severity: isMissing ? 'warning' : 'error',
          message,
          outOfService: false,
        })),
      );
    },
    problems: () => told,
  };
}
