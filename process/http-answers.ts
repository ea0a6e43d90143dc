import type { ErrorRequestHandler, Express, RequestHandler } from 'express';

/**
 * The largest body of a request. Envoy 1.40 lists its extensions in each request for endpoints,
 * which takes 77 KB.
 */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Answers GET and HEAD of a path, and other methods with 405. */
export function get(app: Express, path: string, ...handlers: readonly RequestHandler[]): void {
  app
    .route(path)
    .get(...handlers)
    .all(allow('GET, HEAD'));
}

/** Answers 405 to the methods that are not handled before it. */
export function allow(methods: string): RequestHandler {
  return (_request, response) => {
    response
      .status(405)
      .set('Allow', methods)
      .json({ error: `method not allowed, use ${methods}` });
  };
}

/**
 * Returns what lets so many requests be answered at a time. Others get 503 before their body is
 * read. Bodies that never end would fill the memory.
 */
export function atOnce(most: number, error: string): RequestHandler {
  let open = 0;
  return (_request, response, next) => {
    if (open >= most) {
      response.status(503).set('Retry-After', '1').json({ error });
      return;
    }
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    next();
  };
}

/**
 * Answers `{ error }` for what express and its JSON reader throw. A bad request carries a status
 * below 500. All else is 500, of which `onError` hears the error and the client nothing more.
 */
export function errorAnswer(onError: (error: unknown) => void): ErrorRequestHandler {
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
