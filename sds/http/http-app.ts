import express, { type Express, type RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import { allow, atOnce, errorAnswer, get, MAX_BODY_BYTES } from '#process/http-answers.ts';
import { onceATurn } from '#process/once-a-turn.ts';
import type { Instances } from '../instances/instance.ts';
import { instancesNamed } from '../instances/instances-named.ts';
import { registration } from '../instances/registration.ts';
import { fetchEndpoints } from './fetch-endpoints.ts';

export type HttpSources = {
  /** Undefined until the sources have given their first answer. */
  instances(): Instances | undefined;
  /** Returns why they are not known, where something says so. */
  whyNotKnown(): readonly string[];
  /** The content of `/status`. */
  status(): object;
  /** Answers an ACME authority that asks a host for a token, or undefined. */
  answer(hostname: string, token: string): Promise<string | undefined>;
  /** Called for each request that was answered. */
  onAnswered(request: { method: string; path: string; status: number }): void;
  /** Called for an internal error. The client gets 500. */
  onError(error: unknown): void;
  metrics: Registry;
};

/** Requests for endpoints by REST at a time. Each is answered as soon as its body is there. */
const MOST_FETCHES = 64;

const NOT_READY = 'not ready: the instances are not known yet';

/**
 * Serves everything over HTTP/1.1: what `monitoringApp` does, and for proxies
 * - discovery by REST,
 * - the registrations of Envoy's first API,
 * - the proof of a host's name that an ACME authority asks for (RFC 8555, section 8.3).
 */
export function httpApp(sources: HttpSources): Express {
  return appOf(sources, app => answerProxies(app, sources));
}

/**
 * Serves who has no certificate:
 * - `/healthz`: the process runs,
 * - `/readyz`: the instances are known, else 503 with the reason,
 * - `/status` in JSON,
 * - `/metrics` for Prometheus.
 */
export function monitoringApp(sources: HttpSources): Express {
  return appOf(sources, () => {});
}

function appOf(sources: HttpSources, answerMore: (app: Express) => void): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('json spaces', 2);
  app.use(report(sources));
  answerMore(app);
  get(app, '/healthz', (_request, response) => void response.type('text').send('ok\n'));
  get(
    app,
    '/readyz',
    whenKnown(sources),
    (_request, response) => void response.type('text').send('ready\n'),
  );
  const status = onceATurn(() => JSON.stringify(sources.status(), null, 2));
  get(app, '/status', (_request, response) => void response.type('json').send(status()));
  const metrics = onceATurn(() => sources.metrics.metrics());
  get(app, '/metrics', async (_request, response) => {
    response.type(sources.metrics.contentType).send(await metrics());
  });
  app.use((_request, response) => {
    response.status(404).json({ error: 'not found' });
  });
  app.use(errorAnswer(sources.onError));
  return app;
}

function answerProxies(app: Express, sources: HttpSources): void {
  const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });
  // The colon belongs to the name. It does not start a parameter.
  app
    .route('/v3/discovery\\:endpoints')
    .post(
      whenKnown(sources),
      atOnce(MOST_FETCHES, 'too many requests are sent'),
      body,
      discovery(sources),
    )
    .all(allow('POST'));
  app
    .route('/v1/registration/:service')
    .get(whenKnown(sources), (request, response) => {
      response.json(
        registration(
          instancesNamed(sources.instances() ?? new Map(), request.params.service) ?? [],
        ),
      );
    })
    .all(allow('GET, HEAD'));
  // Express has no name where the `Host` is empty, or missing as HTTP/1.0 allows.
  get(app, '/.well-known/acme-challenge/:token', async ({ hostname = '', params }, response) => {
    const answer = await sources.answer(hostname.toLowerCase(), String(params.token));
    if (answer === undefined) response.status(404).json({ error: 'no order has this token' });
    else response.type('application/octet-stream').send(answer);
  });
}

function whenKnown({ instances, whyNotKnown }: HttpSources): RequestHandler {
  return (_request, response, next) => {
    if (instances() !== undefined) return next();
    response.status(503).json({ error: [NOT_READY, ...whyNotKnown()].join('. ') });
  };
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
