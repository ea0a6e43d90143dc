import express, { type Express, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { accountRoutes } from './account.ts';
import { errorAnswer } from './error-answer.ts';
import { HttpError } from './http-error.ts';
import type { Instance } from './instance.ts';
import { parseJsonBody } from './parse-json-body.ts';
import { parsePassword, parseUser } from './parse-user.ts';
import type { Passwords } from './password.ts';
import { putUser } from './put-user.ts';
import { readBody } from './read-body.ts';
import { requestLog } from './request-log.ts';
import { parseUsername } from './username.ts';
import type { User, UserStore } from './users.ts';

/** What the service needs. `now` counts milliseconds. */
export type AppOptions = {
  readonly instance: Instance;
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly log: Logger;
  readonly newUuid: () => string;
  readonly now: () => number;
};

type UserHandler = RequestHandler<{ username: string }>;

const MAX_BODY_BYTES = 16 * 1024;

/**
 * Builds the user service. Its REST interface has health, create, read and log in, with every
 * answer in JSON. It also has the pages behind the gateway's login.
 */
export function userServiceApp(options: AppOptions): Express {
  const { instance } = options;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .enable('strict routing');

  app.use(requestLog(options.log, options.now));
  app.use(noStore);
  app.use(bufferBody);

  app
    .route('/user/health')
    .get(health(instance))
    .put((_req, _res, next) => next('route')) // to be told that it is not a username
    .all(allow('GET, HEAD'));
  app
    .route('/user/:username')
    .get(getUser(options))
    .put(createUser(options))
    .all(allow('GET, HEAD, PUT'));
  app.route('/user/:username/login').post(logIn(options)).all(allow('POST'));

  app.use(accountRoutes(instance));
  app.use(() => {
    throw new HttpError(404, 'there is nothing at this path');
  });
  app.use(errorAnswer(instance));
  return app;
}

const noStore: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

/** Runs before any answer, so that no answer leaves part of its request unread. Only 413 does. */
const bufferBody: RequestHandler = async (req, res, next) => {
  req.body = await readBody(req, res, MAX_BODY_BYTES);
  next();
};

/**
 * Answers for the instance alone, also when the store is down. Another instance could do no better.
 */
function health(instance: Instance): RequestHandler {
  return (_req, res) => {
    res.json({ ...instance, msg: 'health check OK', ok: true });
  };
}

function getUser({ instance, users }: AppOptions): UserHandler {
  return async (req, res) => {
    const user = await users.find(parseUsername(req.params.username));
    if (user === undefined) throw new HttpError(404, 'there is no user of this name');
    sendUser(res, instance, user);
  };
}

function createUser(options: AppOptions): UserHandler {
  return async (req, res) => {
    const username = parseUsername(req.params.username);
    const result = await putUser(options, {
      username,
      ...parseUser(parseJsonBody(req.headers, req.body)),
    });
    if (result.outcome === 'conflict') {
      throw new HttpError(409, 'a user of this name exists with another full name or password');
    }
    sendUser(res.status(result.outcome === 'created' ? 201 : 200), options.instance, result.user);
  };
}

/** Answers an unknown user and a wrong password alike, in text and in duration. */
function logIn({ instance, users, passwords }: AppOptions): UserHandler {
  return async (req, res) => {
    const username = parseUsername(req.params.username);
    const password = parsePassword(parseJsonBody(req.headers, req.body));
    const user = await users.find(username);
    const verified = await passwords.verify(password, user?.passwordHash);
    if (user === undefined || !verified) {
      throw new HttpError(401, 'wrong username or password', {
        'WWW-Authenticate': 'Login realm="user"',
      });
    }
    sendUser(res, instance, user);
  };
}

function allow(methods: string): RequestHandler {
  return req => {
    throw new HttpError(405, `${req.method} is not allowed here, only ${methods}`, {
      Allow: methods,
    });
  };
}

function sendUser(res: Response, instance: Instance, { fullname, uuid }: User): void {
  res.json({ fullname, ...instance, ok: true, uuid });
}
