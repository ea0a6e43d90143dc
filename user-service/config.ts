import { isIP } from 'node:net';

export type Database =
  | { readonly kind: 'postgres'; readonly url: string }
  | { readonly kind: 'sqlite'; readonly file: string };

export type Config = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly database: Database;
  /** What answers say in `hostname` and `resolvedname`. Undefined means the machine's own. */
  readonly instanceName: string | undefined;
  readonly instanceAddress: string | undefined;
  readonly logLevel: string;
};

/**
 * A variable of the environment is unusable. The message names it, and leaves out its value where
 * that may hold a password.
 */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Reads the configuration. Its variables, with their defaults:
 *
 * - HOST: 127.0.0.1
 * - PORT: 5000
 * - DATABASE_URL (PostgreSQL), or else DATABASE_FILE (SQLite): .gateway/users.sqlite
 * - INSTANCE_NAME and INSTANCE_ADDRESS: those of the machine
 * - LOG_LEVEL: info
 *
 * An empty variable counts as not set. Throws ConfigError.
 */
export function readConfig(environment: Environment): Config {
  const read = (name: string) => environment[name]?.trim() || undefined;
  return {
    host: read('HOST') ?? '127.0.0.1',
    port: parsePort(read('PORT') ?? '5000'),
    database: parseDatabase(read('DATABASE_URL'), read('DATABASE_FILE')),
    instanceName: read('INSTANCE_NAME'),
    instanceAddress: parseAddress(read('INSTANCE_ADDRESS')),
    logLevel: parseLogLevel(read('LOG_LEVEL') ?? 'info'),
  };
}

function parsePort(value: string): number {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65535) {
    throw new ConfigError(`PORT: "${value}" is not a port, use a number from 0 to 65535`);
  }
  return Number(value);
}

function parseDatabase(url: string | undefined, file = '.gateway/users.sqlite'): Database {
  if (url === undefined) return { kind: 'sqlite', file };
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(
      'DATABASE_URL: not a PostgreSQL URL, use postgres://user:password@host:5432/database',
    );
  }
  // The rest of a password would be read as a path, and its beginning as a port, which is logged.
  const { hash, pathname, search } = new URL(url);
  if (`${pathname}${search}${hash}`.includes('@'))
    throw new ConfigError(
      'DATABASE_URL: write "/", "?", "#" and "@" of the password as %2F, %3F, %23 and %40',
    );
  return { kind: 'postgres', url };
}

function parseAddress(value: string | undefined): string | undefined {
  if (value === undefined || isIP(value) !== 0) return value;
  throw new ConfigError(`INSTANCE_ADDRESS: "${value}" is not an IP address`);
}

function parseLogLevel(value: string): string {
  if (LOG_LEVELS.includes(value)) return value;
  throw new ConfigError(
    `LOG_LEVEL: "${value}" is not a level, use one of ${LOG_LEVELS.join(', ')}`,
  );
}
