import { timeProblem, toIso } from './check-pair.ts';
import { crlEnd } from './crl-end.ts';
import { crlProblem, crlsIn } from './crl-problem.ts';
import { errorFinding, type Finding, warningFinding } from './finding.ts';
import { parseCertificates } from './pem.ts';

/** The collections of operating systems have about 150 certificates in 220 KB. */
const MOST = { bytes: 1024 * 1024, count: 1_000 };

/**
 * Checks the authorities (PEM) that peers are checked against, at `now` (milliseconds since the
 * epoch). An empty result means that all is well.
 */
export function checkTrustedCa(pem: string, now: number): readonly Finding[] {
  const revocations = crlProblem(pem);
  if (revocations !== undefined)
    return [errorFinding(`the trusted authorities cannot be used: ${revocations}`)];
  const parsed = parseCertificates(pem, MOST);
  if ('error' in parsed)
    return [errorFinding(`the trusted authorities cannot be used: ${parsed.error}`)];
  const { certificates } = parsed;
  const timed = certificates.flatMap((certificate, at) => {
    const found = timeProblem(certificate, now);
    return found === undefined ? [] : [`trusted authority ${at + 1} ${found}`];
  });
  if (timed.length === certificates.length) return timed.map(errorFinding);
  const leaves = certificates.flatMap(({ ca }, at) =>
    ca
      ? []
      : [
          `trusted authority ${at + 1} is no authority (CA:FALSE), so it is trusted for itself alone`,
        ],
  );
  return [...timed, ...leaves, ...endedLists(pem, now)].map(warningFinding);
}

function endedLists(pem: string, now: number): readonly string[] {
  return crlsIn(pem).flatMap((der, at) => {
    const end = crlEnd(der);
    if (end === undefined || now <= end) return [];
    const since = `revocation list ${at + 1} ended at ${toIso(new Date(end))}`;
    return [
      `${since}: until a newer one is here, Envoy refuses every certificate of its authority`,
    ];
  });
}
