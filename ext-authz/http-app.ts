import type { RequestListener } from 'node:http';
import { type ProbeParts, probes, sendError } from '#process/probes.ts';

/**
 * Answers plain HTTP: `/healthz` (it runs), `/readyz` (it has its Filters and FilterPolicies, else
 * 503 with the reason) and `/metrics` (Prometheus text).
 */
export function httpApp(parts: ProbeParts): RequestListener {
  return probes(parts, (_request, response) =>
    sendError(response, 404, 'not found: try /healthz, /readyz or /metrics'),
  );
}
