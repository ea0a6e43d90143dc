import express, { type Express, type RequestHandler } from 'express';
import { allow, atOnce, errorAnswer, MAX_BODY_BYTES } from '#process/http-answers.ts';

export type JsonAnswer = { readonly status: number; readonly body: object };

/** Answers a rate limit request in ProtoJSON, parsed. */
export type Decide = (body: unknown) => Promise<JsonAnswer>;

export type JsonSources = {
  readonly decide: Decide;
  /** What is said of any other path. */
  readonly notFound: string;
  /** Hears of errors that are ours. The client gets 500. */
  onError(error: unknown): void;
};

/** Requests at a time. Each is answered as soon as its body is there. */
const MOST_BODIES = 64;

/** Answers `POST /json` with a decision. */
export function jsonApp({ decide, notFound, onError }: JsonSources): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const body = express.json({ limit: MAX_BODY_BYTES, type: () => true });
  const bounded = atOnce(MOST_BODIES, 'too many requests are sent');
  app.route('/json').post(noBrowser, bounded, body, decision(decide)).all(allow('POST'));
  app.use((_request, response) => {
    response.status(404).json({ error: notFound });
  });
  app.use(errorAnswer(onError));
  return app;
}

/** A page of any site can send JSON without asking first, as text, and would use up limits. */
const noBrowser: RequestHandler = ({ headers }, response, next) => {
  if (headers.origin === undefined && headers['sec-fetch-site'] !== 'cross-site') next();
  else response.status(403).json({ error: 'pages of browsers may not ask this' });
};

function decision(decide: Decide): RequestHandler {
  return async (request, response) => {
    const { status, body } = await decide(request.body);
    response.status(status).json(body);
  };
}
