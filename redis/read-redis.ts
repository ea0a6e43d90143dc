import { type Malformed, parseRedisAddress, type RedisDescription } from './description.ts';
import { readTls } from './read-tls.ts';
import { Unreadable } from './unreadable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables beside REDIS_URL. Others with this prefix are ignored, because an orchestrator sets
 * some for a service that is called redis.
 */
const BESIDE_URL = [
  'REDIS_USERNAME',
  'REDIS_PASSWORD',
  'REDIS_PASSWORD_FILE',
  'REDIS_SENTINEL_PASSWORD',
  'REDIS_SENTINEL_PASSWORD_FILE',
  'REDIS_CA_FILE',
  'REDIS_CERT_FILE',
  'REDIS_KEY_FILE',
];

/**
 * Reads how to reach Redis from the environment.
 * - REDIS_URL: see `parseRedisAddress`.
 * - REDIS_USERNAME, and REDIS_PASSWORD or REDIS_PASSWORD_FILE.
 * - REDIS_SENTINEL_PASSWORD or REDIS_SENTINEL_PASSWORD_FILE.
 * - With TLS: REDIS_CA_FILE (PEM, in place of the system's authorities).
 * - With TLS: REDIS_CERT_FILE and REDIS_KEY_FILE (PEM, where the server wants a client
 *   certificate).
 * A password variable wins over the one in the address. The last line feed of a file is cut. An
 * empty variable counts as not set. It is an error when only REDIS_URL is missing, since replicas
 * would not share what they should. A variable that would be ignored is an error too. The error
 * names the variable, and never a secret.
 * @returns undefined when none is set
 */
export function readRedis(
  env: Environment,
  readFile: (path: string) => string,
): RedisDescription | Malformed | undefined {
  const url = env.REDIS_URL || undefined;
  if (url === undefined) return withoutAddress(env);
  const parsed = parseRedisAddress(url);
  if ('error' in parsed) return { error: `REDIS_URL: ${parsed.error}` };
  try {
    return describe(parsed, name => env[name] || undefined, readFile);
  } catch (error) {
    if (error instanceof Unreadable) return { error: error.message };
    throw error;
  }
}

/**
 * Reads the same for a process that cannot run with a wrong value. `renewed` reads the files again,
 * since others renew passwords and certificates. A file that cannot be used counts as it was last
 * read.
 * @throws an Error that names the variable, never its value
 */
export function redisOf(
  env: Environment,
  readFile: (path: string) => string,
): RedisDescription | undefined {
  const redis = readRedis(env, readFile);
  if (redis === undefined) return undefined;
  if ('error' in redis) throw new Error(redis.error);
  let last = redis;
  const renewed = () => {
    const now = readRedis(env, readFile);
    if (now !== undefined && !('error' in now)) last = now;
    return last;
  };
  return { ...redis, renewed };
}

function withoutAddress(env: Environment): Malformed | undefined {
  const without = BESIDE_URL.find(name => env[name]);
  return without === undefined
    ? undefined
    : { error: `${without} is set, but REDIS_URL is not: set both or none` };
}

type ReadFile = (path: string) => string;
type Read = (name: string) => string | undefined;

function describe(parsed: RedisDescription, read: Read, readFile: ReadFile): RedisDescription {
  const file = (name: string) => {
    const path = read(name);
    return path === undefined ? undefined : { path, text: contentOf(name, path, readFile) };
  };
  const secret = (name: string) => secretOf(name, read, file);
  const username = read('REDIS_USERNAME') ?? parsed.username;
  const password = secret('REDIS_PASSWORD') ?? parsed.password;
  if (username !== undefined && password === undefined)
    throw new Unreadable(
      'REDIS_URL: a user without password: set REDIS_PASSWORD or REDIS_PASSWORD_FILE',
    );
  const tls = readTls(file);
  if (parsed.tls === undefined && tls !== undefined)
    throw new Unreadable(
      'REDIS_CA_FILE, REDIS_CERT_FILE and REDIS_KEY_FILE are for TLS: want rediss in REDIS_URL',
    );
  return {
    ...parsed,
    topology: withPassword(parsed.topology, secret('REDIS_SENTINEL_PASSWORD')),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(parsed.tls !== undefined && { tls: tls ?? {} }),
  };
}

/**
 * Returns the value of a variable, or the content of the file that its namesake with `_FILE` names.
 */
function secretOf(
  name: string,
  read: Read,
  file: (name: string) => { path: string; text: string } | undefined,
) {
  const [value, inFile] = [read(name), file(`${name}_FILE`)];
  if (inFile === undefined) return value;
  if (value !== undefined) throw new Unreadable(`${name} and ${name}_FILE are both set: keep one`);
  const secret = inFile.text.replace(/\r?\n$/, '');
  if (secret !== '') return secret;
  throw new Unreadable(`${name}_FILE: the file "${inFile.path}" is empty: want the password in it`);
}

function withPassword(
  topology: RedisDescription['topology'],
  password: string | undefined,
): RedisDescription['topology'] {
  if (password === undefined) return topology;
  if (topology.kind === 'sentinel') return { ...topology, password };
  throw new Unreadable(
    'REDIS_SENTINEL_PASSWORD and REDIS_SENTINEL_PASSWORD_FILE are for sentinels: want redis-sentinel in REDIS_URL, or REDIS_PASSWORD',
  );
}

function contentOf(name: string, path: string, readFile: (path: string) => string): string {
  try {
    return readFile(path);
  } catch {
    throw new Unreadable(
      `${name}: cannot read the file "${path}": want a file that this process may read`,
    );
  }
}
