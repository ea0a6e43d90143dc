import express, { type Express } from 'express';
import type { Registry } from 'prom-client';

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export type HttpSources = {
  readiness(): Readiness;
  /** The content of `/status`. */
  status(): object;
  metrics: Registry;
};

/**
 * What operators and probes ask of the control plane: `/healthz` (it runs), `/readyz` (it serves configuration; else 503 with the
 * reason), `/status` (JSON: resources, problems, proxies) and `/metrics` (Prometheus text).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('json spaces', 2);
  app.get('/healthz', (_request, response) => {
    response.type('text').send('ok\n');
  });
  app.get('/readyz', (_request, response) => {
    const readiness = sources.readiness();
    response.status(readiness.ready ? 200 : 503).type('text');
    response.send(readiness.ready ? 'ready\n' : `not ready: ${readiness.reason}\n`);
  });
  app.get('/status', (_request, response) => {
    response.json(sources.status());
  });
  app.get('/metrics', async (_request, response) => {
    response.type(sources.metrics.contentType).send(await sources.metrics.metrics());
  });
  app.all(['/healthz', '/readyz', '/status', '/metrics'], (_request, response) => {
    response.status(405).set('Allow', 'GET, HEAD').json({ error: 'use GET' });
  });
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found; try /healthz, /readyz, /status or /metrics' });
  });
  return app;
}
