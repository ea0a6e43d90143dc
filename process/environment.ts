import { DEFAULT_TRUST_DOMAIN, parseSpiffeId, spiffeId } from '#certificates/identity.ts';
import { type HostPort, parseHostPort } from '#protos/host-port.ts';

/** The variables that a process was started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Gives a variable without the spaces around it, `otherwise` when it is empty or not set. */
export type ReadVariable = (name: string, otherwise: string) => string;

export function variablesOf(env: Environment): ReadVariable {
  return (name, otherwise) => env[name]?.trim() || otherwise;
}

/** The value of the variable `name` as an address. Throws an Error that names the variable and what it should be, as all of these do. */
export function parseAddress(name: string, text: string): HostPort {
  const address = parseHostPort(text);
  if (address !== undefined) return address;
  throw new Error(`${name} is "${text}": want host:port, for example 127.0.0.1:18000`);
}

/** An integer from 1 to `most`; `unit` is such as ` of seconds`. */
export function parseInteger(name: string, text: string, most: number, unit = ''): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Error(`${name} is "${text}": want an integer${unit} from 1 to ${most}`);
}

/** Whose certificates the proxies and services have, as SPIFFE IDs spell it; by default `gateway.internal`. */
export function readTrustDomain(text: ReadVariable): string {
  const trustDomain = text('TRUST_DOMAIN', DEFAULT_TRUST_DOMAIN);
  if (parseSpiffeId(spiffeId({ trustDomain, group: 'a' })) !== undefined) return trustDomain;
  throw new Error(
    `TRUST_DOMAIN is "${trustDomain}": want small letters, digits, ".", "-" and "_", for example ${DEFAULT_TRUST_DOMAIN}`,
  );
}

/** One of pino's. */
export function parseLogLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new Error(`LOG_LEVEL is "${text}": want one of ${LOG_LEVELS.join(', ')}`);
}

const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
