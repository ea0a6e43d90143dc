import type { RequestListener } from 'node:http';
import { type ProbeParts, probes, sendError } from '#process/probes.ts';
import type { Decide } from './json-app.ts';

export type HttpSources = ProbeParts & {
  /**
   * Answers a rate limit request in ProtoJSON, parsed. Absent where not everybody who reaches the
   * port may ask for decisions.
   */
  readonly decide?: Decide;
};

const NOT_FOUND = 'not found: try POST /json, /healthz, /readyz or /metrics';

/**
 * Answers plain HTTP:
 *
 * - `POST /json` gives a decision, for trying and for clients without gRPC.
 * - `/healthz` answers 200 while the process runs.
 * - `/readyz` answers 200 once it has its limits, else 503 with the reason.
 * - `/metrics` is Prometheus text.
 */
export function httpApp({ decide, ...parts }: HttpSources): RequestListener {
  if (decide === undefined)
    return probes(parts, (_request, response) => sendError(response, 404, NOT_FOUND));
  let app: Promise<RequestListener> | undefined;
  return probes(parts, async (request, response) => {
    app ??= openJson(decide, parts);
    (await app)(request, response);
  });
}

/** Reads bodies with express, whose 128 modules most never need: Envoy asks by gRPC. */
async function openJson(decide: Decide, { onError }: ProbeParts): Promise<RequestListener> {
  const { jsonApp } = await import('./json-app.ts');
  return jsonApp({ decide, notFound: NOT_FOUND, onError });
}
