import express, { type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { allow, errorAnswer, get, MAX_BODY_BYTES } from '#process/http-answers.ts';

export type JsonAnswer = { readonly status: number; readonly body: object };

type Decide = (body: unknown) => Promise<JsonAnswer>;

export type HttpSources = {
  /** Answers a rate limit request in ProtoJSON, parsed; absent where decisions are not for everybody who can reach the port. */
  readonly decide?: Decide;
  /** Why proxies are not answered yet; undefined: they are. */
  notReady(): string | undefined;
  /** Hears of what went wrong by a mistake of ours; the client gets 500. */
  onError(error: unknown): void;
  metrics: Registry;
};

/**
 * What is asked for in plain HTTP: `POST /json` (a decision, for trying and for clients without gRPC), `/healthz` (it runs), `/readyz`
 * (it has its limits, else 503 with the reason) and `/metrics` (Prometheus text).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (sources.decide !== undefined) {
    const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });
    app.route('/json').post(body, decision(sources.decide)).all(allow('POST'));
  }
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
    response.status(404).json({ error: 'not found; try POST /json, /healthz, /readyz or /metrics' });
  });
  app.use(errorAnswer(sources.onError));
  return app;
}

function decision(decide: Decide): RequestHandler {
  return async (request, response) => {
    const { status, body } = await decide(request.body);
    response.status(status).json(body);
  };
}
