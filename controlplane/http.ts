import express, {
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
  type Router,
} from 'express';
import type { Registry } from 'prom-client';
import { isLoopbackAddress, isRebound } from '#controlplane/console/guard.ts';
import { type DiffQuestion, parseDiffQuestion } from '#controlplane/diff/diff-request.ts';
import { type ExplainQuestion, parseQuestion } from '#controlplane/explain/explain-request.ts';
import type { Figures } from '#controlplane/figures/figures.ts';
import { figuresPage, parseFiguresQuestion } from '#controlplane/figures/figures-page.ts';
import { atOnce, errorAnswer } from '#process/http-answers.ts';
import { onceATurn } from '#process/once-a-turn.ts';
import { ThreadEnded } from '#process/worker-thread.ts';
import { MOST_WAITING } from './questions.ts';

export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly reason: string };

export type HttpSources = {
  readiness(): Readiness;
  figures: Figures;
  /** The content of `/status`. */
  status(): object;
  /**
   * Returns the answer of `/explain`. Throws an Error that says what is wrong with the question.
   * @returns undefined when too many questions wait
   */
  explain(question: ExplainQuestion): Promise<object> | undefined;
  /** Returns the answer of `/diff`, in the same way. */
  diff(question: DiffQuestion): Promise<object> | undefined;
  metrics: Registry;
  /** The pages below `/console`. Default: none. */
  console?: Router | undefined;
  /** Called for an internal error. The client gets 500. */
  onError(error: unknown): void;
};

/**
 * Serves the control plane's HTTP interface for operators and probes.
 * - `/healthz`: the process runs.
 * - `/readyz`: it serves configuration, else 503 with the reason.
 * - `/status`: JSON with resources, Problems and proxies.
 * - `/figures`: JSON with traffic, latencies, clusters and sampled requests.
 * - `/metrics`: Prometheus text.
 * - POST `/explain`: JSON with what happens to a request.
 * - POST `/diff`: JSON with what documents would change.
 * - `/console/`: the same for people. `/` leads a browser there. It decides itself who may look.
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('json spaces', 2);
  if (sources.console !== undefined) {
    app.use('/console', sources.console);
    app.get('/', (_request, response) => response.redirect('/console/'));
  }
  app.use(onlyOwnHost);
  app.get('/healthz', (_request, response) => {
    response.type('text').send('ok\n');
  });
  app.get('/readyz', (_request, response) => {
    const readiness = sources.readiness();
    response.status(readiness.ready ? 200 : 503).type('text');
    response.send(readiness.ready ? 'ready\n' : `not ready: ${readiness.reason}\n`);
  });
  const status = onceATurn(() => JSON.stringify(sources.status(), null, 2));
  app.get('/status', (_request, response) => {
    response.type('json').send(status());
  });
  app.get('/figures', (request, response) => {
    const asked = parseFiguresQuestion(request.query);
    if ('error' in asked) response.status(400).json(asked);
    else
      response.json(
        figuresPage(sources.figures, asked, isLoopbackAddress(request.socket.remoteAddress)),
      );
  });
  const metrics = onceATurn(() => sources.metrics.metrics());
  app.get('/metrics', async (_request, response) => {
    response.type(sources.metrics.contentType).send(await metrics());
  });
  app.use(['/explain', '/diff'], atOnce(MOST_WAITING, TOO_MANY));
  postQuestion(app, '/explain', {
    limit: '128kb', // The edge accepts at most 60 KiB of request headers.
    wanted: EXPLAIN_WANTED,
    parse: parseQuestion,
    answer: question => sources.explain(question),
  });
  postQuestion(app, '/diff', {
    limit: DOCUMENTS_BYTES,
    wanted: DIFF_WANTED,
    parse: parseDiffQuestion,
    answer: question => sources.diff(question),
    unready: () => {
      const readiness = sources.readiness();
      return readiness.ready ? undefined : `not ready: ${readiness.reason}`;
    },
  });
  app.all(['/healthz', '/readyz', '/status', '/figures', '/metrics'], (_request, response) => {
    response.status(405).set('Allow', 'GET, HEAD').json({ error: 'use GET' });
  });
  app.use((_request, response) => {
    response.status(404).json({
      error: 'not found: try /healthz, /readyz, /status, /figures, /metrics, /explain or /diff',
    });
  });
  app.use(errorAnswer(sources.onError));
  return app;
}

const onlyOwnHost: RequestHandler = (request, response, next) => {
  if (!isRebound(request)) next();
  else
    response
      .status(403)
      .json({ error: 'this address answers to names of this machine only, such as 127.0.0.1' });
};

/** Of the documents that are compared with what is in force, as JSON. */
const DOCUMENTS_BYTES = 16 * 1024 * 1024;

const TOO_MANY = 'too many questions wait';

const EXPLAIN_WANTED =
  'want JSON with the texts `method`, `url`, `from` and `nodeGroup`, and `headers`, a list of "name: value"';

const DIFF_WANTED =
  'want JSON with `files`, a list of maps of `name` and `text` without repeated names, and perhaps `whole`, `remove` and `envoy`';

type Asked<Question> = {
  /** Of the body, as express takes it. */
  readonly limit: string | number;
  readonly wanted: string;
  parse(body: unknown): Question | undefined;
  /** Throws an Error about the question. Undefined: too many wait. */
  answer(question: Question): Promise<object> | undefined;
  /** Returns why nothing can be answered yet. */
  unready?(): string | undefined;
};

/** Answers questions in JSON, which no page of another origin can send. */
function postQuestion<Question>(
  app: Express,
  path: string,
  { limit, wanted, parse, answer, unready = () => undefined }: Asked<Question>,
): void {
  app.post(path, express.json({ limit }), async (request, response) => {
    const question = parse(request.body);
    const reason = question === undefined ? undefined : unready();
    if (question === undefined || reason !== undefined) {
      response.status(reason === undefined ? 400 : 503).json({ error: reason ?? wanted });
      return;
    }
    try {
      const answered = await answer(question);
      if (answered === undefined)
        response.status(503).set('Retry-After', '1').json({ error: TOO_MANY });
      else response.json(answered);
    } catch (error) {
      const status = error instanceof ThreadEnded ? 503 : 400;
      response
        .status(status)
        .json({ error: error instanceof Error ? error.message : String(error) });
    }
  });
  app.use(path, wrongBody(wanted));
  app.all(path, (_request, response) => {
    response.status(405).set('Allow', 'POST').json({ error: 'use POST' });
  });
}

/** Answers a body that is too large or is not JSON. */
function wrongBody(wanted: string): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    const status = typeof error?.status === 'number' ? error.status : 400;
    response.status(status).json({ error: status === 413 ? 'the body is too large' : wanted });
  };
}
