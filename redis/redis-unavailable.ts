import { ErrorReply } from '@redis/client';

/**
 * Redis is gone, slow, overloaded or refuses. This is the only error of this folder. The message is
 * plain words without key, argument or credential. The command may still have been executed, unless
 * `notSent`.
 */
export class RedisUnavailable extends Error {
  override readonly name = 'RedisUnavailable';
  readonly notSent: boolean;

  constructor(message: string, { notSent = false }: { readonly notSent?: boolean } = {}) {
    super(message);
    this.notSent = notSent;
  }

  /** Wraps any error of the client library or of a server. */
  static from(error: unknown): RedisUnavailable {
    return error instanceof RedisUnavailable
      ? error
      : new RedisUnavailable(`Redis: ${describeFailure(error)}`);
  }
}

const NO_RIGHTS = 'the user may not run this command, or not on this key';

/**
 * First words of error replies,
 * https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
 */
const REPLIES: ReadonlyMap<string, string> = new Map([
  ['WRONGPASS', 'it refuses the user or the password'],
  ['NOAUTH', 'it wants a password'],
  ['NOPERM', NO_RIGHTS],
  ['OOM', 'its memory is full'],
  ['MISCONF', 'it cannot write its snapshot and takes no writes'],
  ['LOADING', 'it is loading its data'],
  ['BUSY', 'a script keeps it busy'],
  ['READONLY', 'it is a replica'],
  ['MASTERDOWN', 'it is a replica without its master'],
  ['CLUSTERDOWN', 'its cluster is down'],
  ['CROSSSLOT', 'its keys are spread over a cluster'],
  ['MOVED', 'another node of its cluster has the key (redis-cluster in REDIS_URL)'],
]);

/** Error replies that only their text tells apart. */
const WORDED: readonly (readonly [RegExp, string])[] = [
  [/^ERR .*\bAUTH\b/, 'it refuses the user or the password'],
  [/^ERR .*cluster support disabled/, 'it is no node of a cluster'],
  [/^ERR .*DB index/, 'it has no such database'],
  [
    /^ERR unknown command/,
    'it does not know this command (of sentinels: redis-sentinel in REDIS_URL)',
  ],
  [/^ERR max number of clients/, 'it has too many connections, see its maxclients'],
  // Commands in a script, up to Redis 7.0 and later.
  [/^ERR (The user executing the script can't |ACL failure in script)/, NO_RIGHTS],
];

/** What parts of codes of node:tls and OpenSSL mean here. */
const TLS: readonly (readonly [RegExp, string])[] = [
  [
    /ISSUER|SELF_SIGNED|VERIFY/,
    'none of the authorities (REDIS_CA_FILE) has signed its certificate',
  ],
  [/ALTNAME/, 'its certificate is for another host than that of REDIS_URL'],
  [/CERTIFICATE_REQUIRED/, 'it wants a certificate (REDIS_CERT_FILE)'],
  [/UNKNOWN_CA/, 'it does not trust our certificate (REDIS_CERT_FILE)'],
];

/** Codes of node:net, node:dns and node:tls. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'the connection was reset'],
  ['EPIPE', 'the connection was closed'],
  ['ETIMEDOUT', 'no answer to the connection'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'no route to the network'],
  ['ENOTFOUND', 'no such host'],
  ['EAI_AGAIN', 'the host name cannot be looked up now'],
]);

/**
 * Describes an error in plain words, by its code alone. Messages of libraries and servers may hold
 * arguments.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof RedisUnavailable) return error.message;
  if (error instanceof ErrorReply) return describeReply(error.message);
  if (!(error instanceof Error)) return 'it failed';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined)
    return NAMES.get(error.constructor.name) ?? `it failed (${error.constructor.name})`;
  if (/CERT|SELF_SIGNED|TLS|SSL|VERIFY|ISSUER/.test(code)) return describeTls(code);
  return CODES.get(code) ?? code;
}

function describeTls(code: string): string {
  const [, words] = TLS.find(([pattern]) => pattern.test(code)) ?? [];
  return words === undefined ? `TLS failed, ${code}` : `TLS failed, ${code}: ${words}`;
}

function describeReply(message: string): string {
  const [, words] = WORDED.find(([pattern]) => pattern.test(message)) ?? [];
  if (words !== undefined) return words;
  const [word = ''] = message.split(' ', 1);
  return (
    REPLIES.get(word) ??
    (/^[A-Z]{2,16}$/.test(word) ? `it answered ${word}` : 'it answered an error')
  );
}

/** Errors of the client library that have no code. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['SocketClosedUnexpectedlyError', 'the connection was closed'],
  ['ConnectionTimeoutError', 'no answer to the connection'],
  ['ClientOfflineError', 'not connected'],
  ['ClientClosedError', 'not connected'],
  ['DisconnectsClientError', 'the connection was closed'],
]);
