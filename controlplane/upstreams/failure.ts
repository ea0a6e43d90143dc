/** Why requests do not reach a service. */
export type Failure =
  /** DNS has no address for the name `host`. */
  | { readonly kind: 'dns'; readonly host: string; readonly reason: string }
  /** `address` accepts no connection. Without a reason only counts of the proxies tell it. */
  | { readonly kind: 'connect'; readonly address: string; readonly reason?: string }
  /** The same of some instances, while others serve. */
  | {
      readonly kind: 'some connect';
      readonly address: string;
      readonly reason?: string;
      readonly few?: Few;
    }
  /**
   * The handshake with `address` fails. `subject` is the name that its certificate must be for.
   * `remedy` is what mends it, whatever the reason.
   */
  | {
      readonly kind: 'tls';
      readonly address: string;
      readonly subject?: string;
      readonly reason?: string;
      readonly remedy?: string;
    }
  /** The discovery service does not know the name. `reason` is a sentence of its own. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** It knows the name, and no instance. */
  | { readonly kind: 'empty'; readonly name: string }
  /** `address` accepts connections and gives no answer of HTTP. */
  | {
      readonly kind: 'broken';
      readonly address: string;
      readonly reason: string;
      readonly isTls: boolean;
    }
  /** No instance is healthy or few are, for the checks or for too many failed requests. */
  | { readonly kind: 'unhealthy'; readonly by: 'checks' | 'requests'; readonly few?: Few }
  /** Nearly all requests of these routes get no answer in time. `bound` is what ended them. */
  | { readonly kind: 'late'; readonly routes: readonly string[]; readonly bound?: string }
  /** Nearly all calls of a service that proxies call by themselves get no answer in time. */
  | { readonly kind: 'silent'; readonly bound?: string }
  /** Nearly all calls of a collector are answered with an error. */
  | { readonly kind: 'refused' }
  /** Checks fail of some instances, while others serve. */
  | { readonly kind: 'some unhealthy' }
  /** Outlier detection takes out some instances again and again, while others serve. */
  | { readonly kind: 'some failing' };

/** Of `members` fewer than half are healthy, so Envoy sends requests to all of them. */
export type Few = { readonly healthy: number; readonly members: number };

const NO_ANSWER: Readonly<Partial<Record<Failure['kind'], string>>> = {
  broken: 'Until then requests get 502 or 503',
  late: 'Until then they get 504',
};

/** How a resource says what TLS its service speaks. */
export type TlsWords = {
  readonly plain: string;
  readonly secure: string;
  readonly subject: string;
  readonly authority: string;
  readonly certificate: string;
};

const OF_MAPPINGS: TlsWords = {
  plain: 'write it without `https://` and `tls`',
  secure: 'write `https://` in `service`',
  subject: "write the certificate's name in `sni` of a TLSContext",
  authority: 'in `ca_secret` of a TLSContext, or add it to the file of `CA_FILE`',
  certificate: '`secret` of a TLSContext',
};

export const OF_ROUTES: TlsWords = {
  plain: 'remove its BackendTLSPolicy',
  secure: 'name its Service in a BackendTLSPolicy',
  subject: "write the certificate's name in `hostname` of its BackendTLSPolicy",
  authority: 'in `caCertificateRefs` of its BackendTLSPolicy',
  certificate: '`tls.backend` of the Gateway',
};

/**
 * Says what fails, in the words of whoever tried, and what to do about it. `until` is the
 * consequence.
 */
export function describeFailure(
  failure: Failure,
  until = NO_ANSWER[failure.kind] ?? 'Until then requests get 503',
  words = OF_MAPPINGS,
): string {
  switch (failure.kind) {
    case 'dns':
      return `DNS has no address for "${failure.host}" (${cut(failure.reason)}). Correct the name, or add it to DNS. ${until}`;
    case 'connect':
      return `${failure.address} accepts no connection (${cut(failure.reason)}). Correct the address or port, or start the service. ${until}`;
    case 'some connect':
      return `${failure.address} accepts no connection (${cut(failure.reason)}). ${whatOthersDo(failure.few)}`;
    case 'tls':
      return `TLS with ${failure.address} fails (${cut(failure.reason)}). ${tlsRemedy(failure, words)}. ${until}`;
    case 'unknown':
      return `${sentence(cut(failure.reason))} Correct the name, or ${/^DNS /.test(failure.reason) ? 'add it to DNS' : 'register the service'}. ${until}`;
    case 'empty':
      return `the discovery service has no instance of "${failure.name}". Start one. ${until}`;
    case 'broken':
      return `${failure.address} closes the connection or answers no HTTP (${cut(failure.reason)}). ${brokenRemedy(failure, words)}. ${until}`;
    case 'unhealthy':
      return `${unhealthyOnes(failure)}. Until then all instances get requests`;
    case 'late':
      return `nearly all requests get no answer in time. Look at the log of the service, or raise \`${failure.bound ?? 'timeout_ms'}\`. ${until}`;
    case 'silent':
      return `nearly all calls get no answer in time. Look at its log, and ${failure.bound === undefined ? 'restart it if it hangs' : `raise \`${failure.bound}\``}. ${until}`;
    case 'refused':
      return `nearly all calls are answered with an error. Look at its log, and whether it accepts what the \`driver\` sends. ${until}`;
    case 'some failing':
      return 'an instance fails several requests in a row, again and again, and gets none in between. Look at the log of each. Others serve its requests';
    case 'some unhealthy':
      return 'some instances fail their health checks. Look at their logs. The others serve their requests';
  }
}

function whatOthersDo(few: Few | undefined): string {
  return few === undefined
    ? 'Look at this instance. Others serve its requests'
    : `${failingOf(few)} fail. Look at each. Until then all instances get requests`;
}

function failingOf({ healthy, members }: Few): string {
  return `${members - healthy} of ${members} instances`;
}

function unhealthyOnes({ by, few }: Extract<Failure, { readonly kind: 'unhealthy' }>): string {
  if (by === 'requests')
    return `${few === undefined ? 'no instance is healthy: each' : failingOf(few)} failed several requests in a row. Look at the log of the service`;
  const ones =
    few === undefined
      ? 'no instance passes its health checks'
      : `${failingOf(few)} fail their health checks`;
  return `${ones}. Look at the service, and at its \`health_checks\``;
}

/** What a port of TLS answers to plain text differs by program, and looks like any other answer. */
function brokenRemedy(
  { isTls, reason }: Extract<Failure, { readonly kind: 'broken' }>,
  { secure }: TlsWords,
): string {
  const remedy = isTls
    ? 'Look at the log of the service, or correct the port'
    : `Does it speak https? Then ${secure}. Otherwise correct the port`;
  return /protocol_error/.test(reason) ? `${remedy}, or its answer: ${REJECTED_ANSWERS}` : remedy;
}

/** Envoy does not tell which of these it was. */
const REJECTED_ANSWERS =
  'over 100 header fields, very large ones, wrong names, and two lengths of a body are rejected';

function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

/** Peers write a part of it. */
const LONGEST_REASON = 200;

function cut(text = 'as the proxies count'): string {
  return text.length <= LONGEST_REASON
    ? text
    : `${text.slice(0, LONGEST_REASON - 1).toWellFormed()}…`;
}

type TlsFailure = Extract<Failure, { readonly kind: 'tls' }>;

/** The words of OpenSSL in Node.js, and of BoringSSL in Envoy. */
const REMEDIES: readonly (readonly [
  words: RegExp,
  remedy: (failure: TlsFailure, words: TlsWords) => string,
])[] = [
  [
    /wrong.version.number|packet length too long|http request/i,
    (_failure, { plain }) => `The service speaks no TLS there: ${plain}, or correct the port`,
  ],
  [
    /altname|\bsan\b|hostname/i,
    ({ subject }, words) =>
      `Its certificate must be for ${subject === undefined ? 'its name' : `"${subject}"`}: correct the name, or ${words.subject}`,
  ],
  [
    /expired|not yet valid/i,
    () => 'Renew the certificate of the service, and look at the clocks of both machines',
  ],
  [
    /not supplied by SDS/i,
    () =>
      'The proxies have not got its certificate or authority. Look at the Problems of the TLSContext, and at the log of sds',
  ],
  [
    /verify|issuer|self.signed|unable to get|unknown.ca/i,
    (_failure, { authority }) => `Name the authority of its certificate ${authority}`,
  ],
  [
    /certificate.required|bad.certificate|handshake.failure/i,
    (_failure, { certificate }) =>
      `The service may want a certificate of the gateway: name it in ${certificate}`,
  ],
];

function tlsRemedy(failure: TlsFailure, words: TlsWords): string {
  const known = REMEDIES.find(([words]) => words.test(failure.reason ?? ''));
  return (
    failure.remedy ??
    known?.[1](failure, words) ??
    'Compare the TLS settings of the service with those that are written here'
  );
}
