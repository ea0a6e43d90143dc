import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Registry } from 'prom-client';
import { type ExplainQuestion, parseQuestion } from '#controlplane/explain/explain-request.ts';

export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: string };

export type HttpSources = {
  readiness(): Readiness;
  /** The content of `/status`. */
  status(): object;
  /**
   * Returns the answer of `/explain`. Throws an Error that says what is wrong with the question.
   */
  explain(question: ExplainQuestion): Promise<object>;
  metrics: Registry;
};

/**
 * Serves the control plane's HTTP interface for operators and probes.
 * - `/healthz`: the process runs.
 * - `/readyz`: it serves configuration, else 503 with the reason.
 * - `/status`: JSON with resources, Problems and proxies.
 * - `/metrics`: Prometheus text.
 * - POST `/explain`: JSON with what happens to a request.
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
  app.post('/explain', express.json({ limit: LONGEST_QUESTION }), async (request, response) => {
    const question = parseQuestion(request.body);
    if (question === undefined) {
      response.status(400).json({ error: WANTED });
      return;
    }
    try {
      response.json(await sources.explain(question));
    } catch (error) {
      response.status(400).json({ error: error instanceof Error ? error.message : String(error) });
    }
  });
  app.use('/explain', wrongBody);
  app.all('/explain', (_request, response) => {
    response.status(405).set('Allow', 'POST').json({ error: 'use POST' });
  });
  app.all(['/healthz', '/readyz', '/status', '/metrics'], (_request, response) => {
    response.status(405).set('Allow', 'GET, HEAD').json({ error: 'use GET' });
  });
  app.use((_request, response) => {
    response
      .status(404)
      .json({ error: 'not found: try /healthz, /readyz, /status, /metrics or /explain' });
  });
  return app;
}

/** The edge accepts at most 60 KiB of request headers. */
const LONGEST_QUESTION = '128kb';

const WANTED =
  'want JSON with the texts `method`, `url`, `from` and `nodeGroup`, and `headers`, a list of "name: value"';

/** A body that is too large or is not JSON. */
const wrongBody: ErrorRequestHandler = (error, _request, response, _next) => {
  const status = typeof error?.status === 'number' ? error.status : 400;
  response.status(status).json({ error: status === 413 ? 'the body is too large' : WANTED });
};
