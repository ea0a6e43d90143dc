/** How a name is proved: RFC 8555, section 8.3, and RFC 8737. */
export const CHALLENGES = ['http-01', 'tls-alpn-01'] as const;

export type ChallengeType = (typeof CHALLENGES)[number];

/** The proof of a name for an open order. Whoever asks may have it. */
export type Challenge = {
  readonly type: ChallengeType;
  readonly token: string;
  readonly keyAuthorization: string;
};

/** An order that one process has open. `until` is in ms since the epoch. */
export type Claim = { readonly by: string; readonly until: number; readonly challenge?: Challenge };

/** What the last attempts came to. */
export type Failures = {
  readonly count: number;
  /** In ms since the epoch. There is no attempt before. */
  readonly notBefore: number;
  /** How the name is proved next. Absent: as ever. */
  readonly next?: ChallengeType;
  /** The authority's words, by the way that was tried. `''` is for an authority that was away. */
  readonly reasons: Readonly<Record<string, string>>;
};

/** What is kept beside a certificate, for all processes that serve it. */
export type AcmeRecord = {
  /** The authority of the certificate. */
  readonly directory?: string;
  readonly claim?: Claim;
  readonly failures?: Failures;
  /** How the name was proved the last time. */
  readonly proved?: ChallengeType;
  /** The serial of a certificate that an operator wants replaced, in lower case. */
  readonly replaced?: string;
  /** The operator's order to replace one that was taken last. No process takes it once more. */
  readonly order?: string;
};

/** Parses what was kept. What cannot be read counts as nothing, so that a new order is made. */
export function parseRecord(text: string | undefined): AcmeRecord {
  const { claim, directory, failures, order, proved, replaced } = toObject(parseJson(text));
  return {
    ...(typeof directory === 'string' && { directory }),
    ...(isChallenge(proved) && { proved }),
    ...(typeof replaced === 'string' && { replaced }),
    ...(typeof order === 'string' && { order }),
    ...toClaim(toObject(claim)),
    ...toFailures(toObject(failures)),
  };
}

function toClaim({ by, challenge, until }: Fields): Pick<AcmeRecord, 'claim'> {
  if (typeof by !== 'string' || typeof until !== 'number') return {};
  const { keyAuthorization, token, type } = toObject(challenge);
  const isWhole = isChallenge(type) && typeof token === 'string';
  if (!isWhole || typeof keyAuthorization !== 'string') return { claim: { by, until } };
  return { claim: { by, until, challenge: { type, token, keyAuthorization } } };
}

function toFailures({ count, next, notBefore, reasons }: Fields): Pick<AcmeRecord, 'failures'> {
  if (typeof count !== 'number' || typeof notBefore !== 'number') return {};
  const said = Object.entries(toObject(reasons)).map(([way, reason]) => [way, String(reason)]);
  return {
    failures: {
      count,
      notBefore,
      ...(isChallenge(next) && { next }),
      reasons: Object.fromEntries(said),
    },
  };
}

function isChallenge(value: unknown): value is ChallengeType {
  return CHALLENGES.some(type => type === value);
}

type Fields = Readonly<Record<string, unknown>>;

function toObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
