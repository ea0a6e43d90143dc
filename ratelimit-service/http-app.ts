import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';

export type JsonAnswer = { readonly status: number; readonly body: object };

export type HttpSources = {
  /** Answers a rate limit request in ProtoJSON, parsed. */
  decide(body: unknown): Promise<JsonAnswer>;
  /** Why proxies are not answered yet; undefined: they are. */
  notReady(): string | undefined;
  /** Hears of what went wrong by a mistake of ours; the client gets 500. */
  onError(error: unknown): void;
  metrics: Registry;
};

/** Envoy's own requests are below 100 KiB: its headers are. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * What is asked for in plain HTTP: `POST /json` (a decision, for trying and for clients without gRPC), `/healthz` (it runs), `/readyz`
 * (it has its limits, else 503 with the reason) and `/metrics` (Prometheus text).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });
  app.route('/json').post(body, decision(sources)).all(allow('POST'));
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
  app.use(errorAnswer(sources));
  return app;
}

function decision({ decide }: HttpSources): RequestHandler {
  return async (request, response) => {
    const { status, body } = await decide(request.body);
    response.status(status).json(body);
  };
}

function get(app: Express, path: string, handler: RequestHandler): void {
  app.route(path).get(handler).all(allow('GET, HEAD'));
}

function allow(methods: string): RequestHandler {
  return (_request, response) => {
    response
      .status(405)
      .set('Allow', methods)
      .json({ error: `method not allowed, use ${methods}` });
  };
}

/** What express and its JSON reader throw for a bad request carries a status below 500. */
function errorAnswer({ onError }: HttpSources): ErrorRequestHandler {
  return (error: { status?: number; type?: string }, _request, response, next) => {
    const { status = 500, type } = error;
    if (status >= 500) onError(error);
    if (response.headersSent) next(error);
    else response.status(status).json({ error: explain(status, type) });
  };
}

function explain(status: number, type: string | undefined): string {
  if (status === 413) return `the body must not have more than ${MAX_BODY_BYTES} bytes`;
  if (type === 'entity.parse.failed') return 'the body is not JSON';
  return status < 500 ? 'bad request' : 'internal error, see the log';
}
