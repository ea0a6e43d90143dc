/** Why requests do not reach a service. */
export type Failure =
  /** DNS has no address for the name `host`. */
  | { readonly kind: 'dns'; readonly host: string; readonly reason: string }
  /** `address` accepts no connection. Without a reason only counts of the proxies tell it. */
  | { readonly kind: 'connect'; readonly address: string; readonly reason?: string }
  /** The same of some instances, while others serve. */
  | { readonly kind: 'some connect'; readonly address: string; readonly reason?: string }
  /** The handshake with `address` fails. `subject` is the name that its certificate must be for. */
  | {
      readonly kind: 'tls';
      readonly address: string;
      readonly subject?: string;
      readonly reason?: string;
    }
  /** The discovery service does not know the name. `reason` is a sentence of its own. */
  | { readonly kind: 'unknown'; readonly reason: string }
  /** It knows the name, and no instance. */
  | { readonly kind: 'empty'; readonly name: string }
  /** No instance is healthy, for the checks or for too many failed requests. */
  | { readonly kind: 'unhealthy'; readonly by: 'checks' | 'requests' }
  /** Nearly all requests get no answer in time. */
  | { readonly kind: 'late' }
  /** Checks fail of some instances, while others serve. */
  | { readonly kind: 'some unhealthy' };

const NO_ANSWER = 'Until then requests get 503';
const NO_ANSWER_IN_TIME = 'Until then they get 504';

/**
 * Says what fails, in the words of whoever tried, and what to do about it. `until` is the
 * consequence.
 */
export function describeFailure(
  failure: Failure,
  until = failure.kind === 'late' ? NO_ANSWER_IN_TIME : NO_ANSWER,
): string {
  switch (failure.kind) {
    case 'dns':
      return `DNS has no address for "${failure.host}" (${cut(failure.reason)}). Correct the name, or add it to DNS. ${until}`;
    case 'connect':
      return `${failure.address} accepts no connection (${cut(failure.reason)}). Correct the address or port, or start the service. ${until}`;
    case 'some connect':
      return `${failure.address} accepts no connection (${cut(failure.reason)}). Look at this instance. Others serve its requests`;
    case 'tls':
      return `TLS with ${failure.address} fails (${cut(failure.reason)}). ${tlsRemedy(failure)}. ${until}`;
    case 'unknown':
      return `${sentence(cut(failure.reason))} Correct the name, or register the service. ${until}`;
    case 'empty':
      return `the discovery service has no instance of "${failure.name}". Start one. ${until}`;
    case 'unhealthy':
      return failure.by === 'checks'
        ? 'no instance passes its health checks. Look at the service, and at the path in `health_checks`. Until then all instances get requests'
        : 'no instance is healthy: each failed several requests in a row. Look at the log of the service. Until then all instances get requests';
    case 'late':
      return `nearly all requests get no answer in time. Look at the log of the service, or raise \`timeout_ms\`. ${until}`;
    case 'some unhealthy':
      return 'some instances fail their health checks. Look at their logs. The others serve their requests';
  }
}

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
const REMEDIES: readonly (readonly [words: RegExp, remedy: (failure: TlsFailure) => string])[] = [
  [
    /wrong.version.number|packet length too long|http request/i,
    () =>
      'The service speaks no TLS there: write it without `https://` and `tls`, or correct the port',
  ],
  [
    /altname|\bsan\b|hostname/i,
    ({ subject }) =>
      `Its certificate must be for ${subject === undefined ? 'its name' : `"${subject}"`}: correct the name, or write the certificate's name in \`sni\` of a TLSContext`,
  ],
  [
    /expired|not yet valid/i,
    () => 'Renew the certificate of the service, and look at the clocks of both machines',
  ],
  [
    /verify|issuer|self.signed|unable to get|unknown.ca/i,
    () =>
      'Name the authority of its certificate in `ca_secret` of a TLSContext, or add it to the file of `CA_FILE`',
  ],
  [
    /certificate.required|bad.certificate|handshake.failure/i,
    () => 'The service may want a certificate of the gateway: name it in `secret` of a TLSContext',
  ],
];

function tlsRemedy(failure: TlsFailure): string {
  const known = REMEDIES.find(([words]) => words.test(failure.reason ?? ''));
  return known?.[1](failure) ?? 'Compare the TLS settings of the service with those of the Mapping';
}
