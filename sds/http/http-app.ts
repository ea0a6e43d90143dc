import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { Instances } from '../instances/instance.ts';
import { registration } from '../instances/registration.ts';
import { fetchEndpoints } from './fetch-endpoints.ts';

export type HttpSources = {
  /** Undefined until the sources have given their first answer. */
  instances(): Instances | undefined;
  /** The content of `/status`. */
  status(): object;
  /** Hears of each request that was answered. */
  onAnswered(request: { method: string; path: string; status: number }): void;
  /** Hears of what went wrong by a mistake of ours; the client gets 500. */
  onError(error: unknown): void;
  metrics: Registry;
};

/** Envoy 1.40 lists its extensions in each request, 77 KB of them. */
const MAX_BODY_BYTES = 1024 * 1024;

const NOT_READY = { error: 'not ready: the instances are not known yet' };

/**
 * Everything that is asked for in plain HTTP: discovery by REST, the registrations of Envoy's first API, and what operators and
 * probes need: `/healthz` (it runs), `/readyz` (the instances are known, else 503), `/status` (JSON) and `/metrics` (Prometheus).
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('json spaces', 2);
  const whenKnown: RequestHandler = (_request, response, next) => {
    if (sources.instances() === undefined) response.status(503).json(NOT_READY);
    else next();
  };
  const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });

  app.use(report(sources));
  // The colon is the name's own, not the start of a parameter.
  app.route('/v3/discovery\\:endpoints').post(whenKnown, body, discovery(sources)).all(allow('POST'));
  app
    .route('/v1/registration/:service')
    .get(whenKnown, (request, response) => {
      response.json(registration(sources.instances()?.get(request.params.service) ?? []));
    })
    .all(allow('GET, HEAD'));
  get(app, '/healthz', (_request, response) => void response.type('text').send('ok\n'));
  get(app, '/readyz', whenKnown, (_request, response) => void response.type('text').send('ready\n'));
  get(app, '/status', (_request, response) => void response.json(sources.status()));
  get(app, '/metrics', async (_request, response) => {
    response.type(sources.metrics.contentType).send(await sources.metrics.metrics());
  });
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found' });
  });
  app.use(errorAnswer(sources));
  return app;
}

function report({ onAnswered }: HttpSources): RequestHandler {
  return ({ method, path }, response, next) => {
    response.once('finish', () => onAnswered({ method, path, status: response.statusCode }));
    next();
  };
}

function discovery({ instances }: HttpSources): RequestHandler {
  return (request, response) => {
    const answer = fetchEndpoints(request.body, instances() ?? new Map());
    response.status(answer.status);
    if (answer.status === 304) response.end();
    else response.json(answer.body);
  };
}

function get(app: Express, path: string, ...handlers: RequestHandler[]): void {
  app
    .route(path)
    .get(...handlers)
    .all(allow('GET, HEAD'));
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
