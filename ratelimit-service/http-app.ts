import express, { type Express, type RequestHandler } from 'express';
import { allow, errorAnswer, MAX_BODY_BYTES } from '#process/http-answers.ts';
import { answerProbes, type ProbeSources } from '#process/probes.ts';

export type JsonAnswer = { readonly status: number; readonly body: object };

type Decide = (body: unknown) => Promise<JsonAnswer>;

export type HttpSources = ProbeSources & {
  /**
   * Answers a rate limit request in ProtoJSON, parsed. Absent where not everybody who reaches the
   * port may ask for decisions.
   */
  readonly decide?: Decide;
  /** Hears of errors that are ours. The client gets 500. */
  onError(error: unknown): void;
};

/**
 * Answers plain HTTP:
 *
 * - `POST /json` gives a decision, for trying and for clients without gRPC.
 * - `/healthz` answers 200 while the process runs.
 * - `/readyz` answers 200 once it has its limits, else 503 with the reason.
 * - `/metrics` is Prometheus text.
 */
export function httpApp(sources: HttpSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (sources.decide !== undefined) {
    const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });
    app.route('/json').post(body, decision(sources.decide)).all(allow('POST'));
  }
  answerProbes(app, sources);
  app.use((_request, response) => {
    response
      .status(404)
      .json({ error: 'not found: try POST /json, /healthz, /readyz or /metrics' });
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
