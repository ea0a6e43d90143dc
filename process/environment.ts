import { DEFAULT_TRUST_DOMAIN, parseSpiffeId, spiffeId } from '#certificates/identity.ts';
import { type HostPort, parseHostPort } from '#grpc/host-port.ts';

/** The variables that a process was started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns a variable without the spaces around it. Returns `otherwise` when it is empty or not set.
 */
export type ReadVariable = (name: string, otherwise: string) => string;

export function variablesOf(env: Environment): ReadVariable {
  return (name, otherwise) => env[name]?.trim() || otherwise;
}

/**
 * Parses the value of the variable `name` as an address. Throws an Error that names the variable
 * and what it should be, as all functions of this file do.
 */
export function parseAddress(name: string, text: string): HostPort {
  const address = parseHostPort(text);
  if (address !== undefined) return address;
  throw new Error(`${name} is "${text}": want host:port, for example 127.0.0.1:18000`);
}

/** Parses the address of another program's server, one that can be asked. */
export function parseServerAddress(name: string, text: string): HostPort {
  const address = parseAddress(name, text);
  if (address.port !== 0) return address;
  throw new Error(`${name} is "${text}": want the port of a server, from 1 to 65535`);
}

/**
 * Returns what stands between separators, without spaces. Returns nothing where `text` is empty. A
 * variable that is set and names nothing is a mistake. Other things would be used, or nothing at
 * all.
 */
export function parseList(name: string, text: string, separator: string): readonly string[] {
  const items = text
    .split(separator)
    .map(item => item.trim())
    .filter(item => item !== '');
  if (items.length > 0 || text === '') return items;
  throw new Error(
    `${name} is "${text}", which names nothing: want one or more, with "${separator}" between`,
  );
}

/**
 * Reads where every control plane is. All of them hear what a service finds wrong. The value is a
 * list of addresses, and a name may stand for several. When it is empty, only the control plane
 * that is followed hears it.
 */
export function readReportAddresses(text: ReadVariable): readonly HostPort[] {
  const name = 'REPORT_ADDRESSES';
  return parseList(name, text(name, ''), ',').map(address => parseServerAddress(name, address));
}

/** Parses an integer from 1 to `most`. `unit` is such as ` of seconds`. */
export function parseInteger(name: string, text: string, most: number, unit = ''): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= most) return value;
  throw new Error(`${name} is "${text}": want an integer${unit} from 1 to ${most}`);
}

/**
 * Reads the trust domain of the certificates of proxies and services, as SPIFFE IDs spell it.
 * Default: `gateway.internal`.
 */
export function readTrustDomain(text: ReadVariable): string {
  const trustDomain = text('TRUST_DOMAIN', DEFAULT_TRUST_DOMAIN);
  if (parseSpiffeId(spiffeId({ trustDomain, group: 'a' })) !== undefined) return trustDomain;
  throw new Error(
    `TRUST_DOMAIN is "${trustDomain}": want small letters, digits, ".", "-" and "_", for example ${DEFAULT_TRUST_DOMAIN}`,
  );
}

/** Reads FIGURES, whether proxies push statistics and sampled requests to the control plane. */
export function readFigures(text: ReadVariable): boolean {
  const figures = text('FIGURES', 'on');
  if (figures === 'on' || figures === 'off') return figures === 'on';
  throw new Error(`FIGURES is "${figures}": want on or off`);
}

/** Parses one of pino's levels. */
export function parseLogLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new Error(`LOG_LEVEL is "${text}": want one of ${LOG_LEVELS.join(', ')}`);
}

const LOG_LEVELS: readonly string[] = [
  'trace',
  'debug',
  'info',
  'warn',
  'error',
  'fatal',
  'silent',
];
