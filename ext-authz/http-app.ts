import express, { type Express } from 'express';
import type { Registry } from 'prom-client';
import { get } from '#process/http-answers.ts';

export type HttpSources = {
  /** Why no check is answered yet; undefined: they are. */
  notReady(): string | undefined;
  metrics: Registry;
};

/**
 * What is asked for in plain HTTP: `/healthz` (it runs), `/readyz` (it has its Filters and FilterPolicies, else 503 with the reason) and
 * `/metrics` (Prometheus text).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  get(app, '/healthz', (_request, response) => void response.type('text').send('ok\n'));
  get(app, '/readyz', (_request, response) => {
    const reason = sources.notReady();
    response.status(reason === undefined ? 200 : 503).type('text');
    response.send(reason === undefined ? 'ready\n' : `not ready: ${reason}\n`);
  });
  get(app, '/metrics', async (_request, response) => {
    response.type(sources.metrics.contentType).send(await sources.metrics.metrics());
  });
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found; try /healthz, /readyz or /metrics' });
  });
  return app;
}
