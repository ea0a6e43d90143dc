import { isIP } from 'node:net';
import type { HostPort } from '#grpc/host-port.ts';
import {
  type Environment,
  parseAddress,
  parseLogLevel,
  variablesOf,
} from '#process/environment.ts';

export type Config = {
  readonly address: HostPort;
  /** Undefined means `http://` and the address. */
  readonly issuer: string | undefined;
  /** The origins under which browsers know the gateway, `http://host:port`. */
  readonly origins: readonly string[];
  /** The folder of the keys. */
  readonly state: string;
  readonly logLevel: string;
};

/**
 * Reads the configuration. Its variables, with their defaults:
 *
 * - ADDRESS: 127.0.0.1:18004
 * - ISSUER: `http://` and the address
 * - GATEWAY_ORIGINS: http://127.0.0.1:8080,http://localhost:8080
 * - STATE: .gateway
 * - LOG_LEVEL: info
 *
 * An address that other machines reach is rejected unless ALLOW_KNOWN_PASSWORDS is `yes`, because
 * the users' passwords are public. An empty variable counts as not set. Throws an Error that names
 * the variable and what it should be.
 */
export function readConfig(env: Environment): Config {
  const text = variablesOf(env);
  return {
    address: parseListenAddress(
      text('ADDRESS', '127.0.0.1:18004'),
      text('ALLOW_KNOWN_PASSWORDS', 'no') === 'yes',
    ),
    issuer: env.ISSUER?.trim() ? parseOrigin('ISSUER', env.ISSUER.trim()) : undefined,
    origins: text('GATEWAY_ORIGINS', 'http://127.0.0.1:8080,http://localhost:8080')
      .split(',')
      .map(origin => parseOrigin('GATEWAY_ORIGINS', origin.trim())),
    state: text('STATE', '.gateway'),
    logLevel: parseLogLevel(text('LOG_LEVEL', 'info')),
  };
}

function parseListenAddress(text: string, anywhere: boolean): HostPort {
  const address = parseAddress('ADDRESS', text);
  if (anywhere || isLoopback(address.host)) return address;
  throw new Error(
    `ADDRESS is "${text}", which other machines may reach. The passwords of this sample are public. Set ALLOW_KNOWN_PASSWORDS=yes to allow it all the same`,
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function parseOrigin(name: string, text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.origin === text) return text;
  throw new Error(`${name} has "${text}": want an origin, for example http://127.0.0.1:8080`);
}
