import type { ErrorRequestHandler } from 'express';
import { describeError } from './describe-error.ts';
import { HttpError } from './http-error.ts';
import type { Instance } from './instance.ts';
import { Overloaded } from './limiter.ts';
import { lingeringClose, sentOrSilent } from './lingering-close.ts';
import { noteFailure } from './request-log.ts';
import { StoreUnavailable } from './store-unavailable.ts';

/**
 * Answers whatever a handler threw with JSON: `ok` false, the instance and `error` in plain words.
 * The cause goes to the log only.
 */
export function errorAnswer(instance: Instance): ErrorRequestHandler {
  return async (error, req, res, _next) => {
    const { status, headers, message } = toHttpError(error);
    noteFailure(res, status < 500 ? { error: message } : describeError(error));
    res.status(status).set(headers);

    const body = { ok: false, ...instance, error: message };
    if (req.complete) {
      res.json(body);
      return;
    }
    // a client that asks first has sent nothing yet
    if (req.headers.expect === undefined) await sentOrSilent(req);
    const bytes = Buffer.from(JSON.stringify(body));
    res.type('json').set({ Connection: 'close', 'Content-Length': String(bytes.length) });
    res.write(bytes);
    lingeringClose(req, res);
  };
}

const TRY_AGAIN = { 'Retry-After': '1' };

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable) {
    return new HttpError(503, 'the store of users does not answer, try again', TRY_AGAIN);
  }
  if (error instanceof Overloaded)
    return new HttpError(503, 'too many requests at once, try again', TRY_AGAIN);
  if (error instanceof URIError)
    return new HttpError(400, 'the path has a malformed percent-encoding');
  return new HttpError(500, 'internal error');
}
