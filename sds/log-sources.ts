import type { Logger } from 'pino';
import type { FileSourceOptions } from './instances/file-source.ts';
import type { WatchDnsOptions } from './instances/watch-dns.ts';
import type { Metrics } from './metrics.ts';

/** Turns the reports of the file source into log lines and metrics. */
export function fileReports(
  path: string,
  log: Logger,
  metrics: Metrics,
): Pick<FileSourceOptions, 'onProblem' | 'onMissing'> {
  return {
    onProblem({ line, message }) {
      metrics.fileProblem();
      log.error(
        { file: `${path}:${line}` },
        `${path}:${line}: ${message}. What was read last stays in force`,
      );
    },
    onMissing: () =>
      log.warn(
        { file: path },
        `the instances file ${path} is missing and will be read when it appears`,
      ),
  };
}

/** Counts each DNS query. Logs the first failure in a row and its end. */
export function dnsReports(log: Logger, metrics: Metrics): WatchDnsOptions['onQueried'] {
  const failing = new Set<string>();
  return (name, family, outcome) => {
    metrics.dnsQueried(outcome.kind);
    const query = `${name} ${family === 4 ? 'A' : 'AAAA'}`;
    if (outcome.kind === 'failed') {
      if (!failing.has(query))
        log.warn(
          { query, reason: outcome.message },
          'DNS query failed, so the last answer stays in force',
        );
      failing.add(query);
    } else if (failing.delete(query)) {
      log.info({ query }, 'DNS answers again');
    }
  };
}
