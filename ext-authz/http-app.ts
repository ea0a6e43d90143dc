import express, { type Express } from 'express';
import { errorAnswer } from '#process/http-answers.ts';
import { answerProbes, type ProbeSources } from '#process/probes.ts';

export type HttpSources = ProbeSources & {
  /** Hears of errors that are ours. The client gets 500. */
  onError(error: unknown): void;
};

/**
 * Answers plain HTTP: `/healthz` (it runs), `/readyz` (it has its Filters and FilterPolicies, else
 * 503 with the reason) and `/metrics` (Prometheus text).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  answerProbes(app, sources);
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found: try /healthz, /readyz or /metrics' });
  });
  app.use(errorAnswer(sources.onError));
  return app;
}
