import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';

const MAX_PATH = 256;

/**
 * Logs one line for each request when it has ended. The line has no query, no header but the
 * request id, and no body. `now` counts milliseconds.
 */
export function requestLog(log: Logger, now: () => number): RequestHandler {
  return (req, res, next) => {
    const { method, path } = req;
    const start = now();
    res.once('close', () => {
      const line = {
        method,
        path: path.slice(0, MAX_PATH),
        status: res.headersSent ? res.statusCode : undefined,
        ms: Math.round((now() - start) * 10) / 10,
        request_id: req.get('x-request-id')?.slice(0, MAX_PATH),
        ...failure(res),
      };
      log[level(res.statusCode)](
        line,
        res.writableFinished ? 'request' : 'request, client went away',
      );
    });
    next();
  };
}

/** Adds to the request's line why it failed, as describeError says it. */
export function noteFailure(res: Response, failure: object): void {
  res.locals.failure = failure;
}

function failure(res: Response): object {
  const noted: unknown = res.locals.failure;
  return typeof noted === 'object' && noted !== null ? noted : {};
}

function level(status: number): 'info' | 'warn' | 'error' {
  if (status < 500) return 'info';
  return status === 503 ? 'warn' : 'error';
}
