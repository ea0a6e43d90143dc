import { availableParallelism } from 'node:os';
import type { HostPort } from '#grpc/host-port.ts';
import {
  type Environment,
  parseAddress,
  parseInteger,
  parseLogLevel,
  parseServerAddress,
  readReportAddresses,
  variablesOf,
} from './environment.ts';

/** What the environment tells each service that decides about requests. */
export type DecisionConfig = {
  readonly address: HostPort;
  /** The control plane, which sends the configuration. */
  readonly xds: HostPort;
  /** Control planes that also get this service's Problems. See `readReportAddresses`. */
  readonly reportTo: readonly HostPort[];
  /** How many processes answer behind the port. */
  readonly workers: number;
  /** The folder with the service's identity. When it is set, both addresses speak mutual TLS. */
  readonly tlsFolder: string | undefined;
  /** A further address where probes and monitoring are answered in plain HTTP. */
  readonly http: HostPort | undefined;
  readonly logLevel: string;
};

const MOST_WORKERS = 256;

/**
 * Returns the number of cores that this process may use, less one. That one is left to the proxies.
 */
export function workersByDefault(cores = availableParallelism()): number {
  return Math.min(Math.max(1, cores - 1), MOST_WORKERS);
}

/**
 * Reads the configuration. Its variables, with their defaults:
 *
 * - ADDRESS: `otherwise.address`
 * - XDS_ADDRESS: 127.0.0.1:18000
 * - REPORT_ADDRESSES: none
 * - WORKERS: `otherwise.workers`
 * - TLS_FOLDER: none, which means no TLS
 * - HTTP_ADDRESS: none
 * - LOG_LEVEL: info
 *
 * An empty variable counts as not set. Throws an Error that names the variable and what it should
 * be.
 */
export function readDecisionConfig(
  env: Environment,
  otherwise: { readonly address: string; readonly workers: number },
): DecisionConfig {
  const text = variablesOf(env);
  const address = (name: string, ifNone: string) => parseAddress(name, text(name, ifNone));
  return {
    address: address('ADDRESS', otherwise.address),
    xds: parseServerAddress('XDS_ADDRESS', text('XDS_ADDRESS', '127.0.0.1:18000')),
    reportTo: readReportAddresses(text),
    workers: parseInteger('WORKERS', text('WORKERS', String(otherwise.workers)), MOST_WORKERS),
    tlsFolder: text('TLS_FOLDER', '') || undefined,
    http: text('HTTP_ADDRESS', '') === '' ? undefined : address('HTTP_ADDRESS', ''),
    logLevel: parseLogLevel(text('LOG_LEVEL', 'info')),
  };
}
