import express, {
  type ErrorRequestHandler,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Logger } from 'pino';
import { act, takeTurns } from './act.ts';
import { ACTIONS, type OrderGiver } from './actions.ts';
import type { Asset } from './assets.ts';
import { etagOf, readAssets } from './assets.ts';
import type { ConsoleConfig, ConsoleLogin } from './console-config.ts';
import { type ConsoleData, type ConsoleFacts, consoleData } from './data.ts';
import { type Events, openEvents } from './events.ts';
import { isLoopbackHost, isSameOrigin, securityHeaders } from './guard.ts';
import { endedPage, freshLogin, isNavigation, PAGE_HEADERS } from './login-ended.ts';
import { type Receive, receiveAll, visitorIn } from './visitor.ts';

export type ConsoleParts = {
  readonly facts: ConsoleFacts;
  readonly orders: OrderGiver;
  readonly log: Logger;
  readonly config: Exclude<ConsoleConfig, 'off'>;
  now(): number;
  after(ms: number, callback: () => void): () => void;
};

export type Console = {
  readonly router: Router;
  /** Called when anything changed that a screen shows. */
  changed(): void;
  close(): void;
};

/** The screens, as their paths name them. */
export const SCREENS = [
  'overview',
  'routes',
  'route',
  'gateways',
  'explain',
  'services',
  'service',
  'traffic',
  'security',
  'limits',
  'certificates',
  'proxies',
  'change',
] as const;

/** Opens the console: its pages, what they load, and the hints that something changed. */
export function openConsole(parts: ConsoleParts): Console {
  const { facts, config, now, after } = parts;
  const data = consoleData(facts, now);
  const events = openEvents({ after });
  const unfollow = facts.figures.follow(() => events.changed());
  const router = Router();
  if (config === 'open')
    router.use(
      onlyOwnHost,
      onlyVisitors(receiveAll, () => undefined),
    );
  else {
    const again = (path: string) => freshLogin(facts.resources().filters, config.audience, path);
    router.use(onlyVisitors(receivingTokens(config), again));
  }
  router.use(assetRoutes());
  router.get('/events', stream(events, { now, after }));
  router.use('/api', apiRoutes(data, parts));
  router.use((_request, response) => {
    response.status(404).json({ error: 'not found: open /console/' });
  });
  return {
    router,
    changed: () => {
      data.changed();
      events.changed();
    },
    close: () => {
      unfollow();
      events.close();
    },
  };
}

/** Loads what verifies tokens, which has 47 modules, only for a console with a login. */
function receivingTokens(login: ConsoleLogin): Receive {
  const loaded = import('./receive-tokens.ts').then(({ receiveTokens }) => receiveTokens(login));
  return async headers => (await loaded)(headers);
}

const ownPageOnly: RequestHandler = ({ headers }, response, next) => {
  if (isSameOrigin(headers)) next();
  else response.status(403).json({ error: 'only the pages of the console may ask this' });
};

/** A body that is too large or is not JSON. All else is no fault of the browser. */
const wrongBody: ErrorRequestHandler = (error, _request, response, next) => {
  const status: unknown = error?.status;
  if (typeof status !== 'number' || status >= 500) next(error);
  else
    response.status(status).json({ error: status === 413 ? 'the body is too large' : 'want JSON' });
};

/** Lets those through who may look, and remembers who they are. `again` is where one logs in. */
function onlyVisitors(
  receive: Receive,
  again: (path: string) => string | undefined,
): RequestHandler {
  return async ({ headers, originalUrl }, response, next) => {
    const visitor = await receive(headers);
    if (!('error' in visitor)) {
      response.locals.visitor = visitor;
      next();
      return;
    }
    const { error, isExpired, status } = visitor;
    if (isExpired && isNavigation(headers))
      response
        .status(status)
        .set(PAGE_HEADERS)
        .send(endedPage(error, again(originalUrl)));
    else response.status(status).json({ error });
  };
}

const onlyOwnHost: RequestHandler = ({ headers: { host } }, response, next) => {
  if (isLoopbackHost(host)) next();
  else
    response
      .status(403)
      .json({ error: 'the console answers to names of this machine only, such as 127.0.0.1' });
};

function assetRoutes(): Router {
  const router = Router();
  let read: ReturnType<typeof readAssets> | undefined;
  const assets = () => {
    read ??= readAssets();
    return read;
  };
  router.use(async (_request, response, next) => {
    const { importMapHash } = await assets();
    response.set(securityHeaders(importMapHash));
    next();
  });
  router.get(['/', ...SCREENS.map(screen => `/${screen}`)], async (request, response) => {
    if (request.originalUrl === '/console') response.redirect(308, '/console/');
    else send(response, request.headers['if-none-match'], (await assets()).page);
  });
  router.get('/assets/*path', async (request, response, next) => {
    const found = (await assets()).files.get(request.params.path.join('/'));
    if (found === undefined) next();
    else send(response, request.headers['if-none-match'], found);
  });
  return router;
}

function send(response: Response, known: string | undefined, { body, etag, type }: Asset): void {
  response.set({ ETag: etag, 'Cache-Control': 'no-cache' });
  if (known === etag) response.status(304).end();
  else response.set('Content-Type', type).send(body);
}

/** A stream ends with the login that it was opened by. */
function stream(
  events: Events,
  { now, after }: Pick<ConsoleParts, 'now' | 'after'>,
): RequestHandler {
  return (_request, response) => {
    if (!events.add(response)) {
      response.status(503).json({ error: 'too many browsers follow' });
      return;
    }
    const { ends } = visitorIn(response);
    if (ends === undefined) return;
    const stop = after(Math.min(Math.max(0, ends - now()), LONGEST_STREAM_MS), () =>
      response.destroy(),
    );
    response.once('close', stop);
  };
}

/** A browser whose stream ends connects again. */
const LONGEST_STREAM_MS = 86_400_000;

function apiRoutes(data: ConsoleData, parts: ConsoleParts): Router {
  const router = Router();
  for (const [name, read] of Object.entries(data.views))
    router.get(`/${name}`, async (request, response) => {
      const view = await read(request.query);
      if (view === undefined) {
        response.status(404).json({ error: 'not found' });
        return;
      }
      const body = JSON.stringify(view);
      const type = 'application/json; charset=utf-8';
      send(response, request.headers['if-none-match'], {
        type,
        etag: etagOf(body),
        body: Buffer.from(body),
      });
    });
  router.use(ownPageOnly, express.json({ limit: '1mb' }));
  for (const [name, answer] of Object.entries(data.questions))
    router.post(`/${name}`, async (request, response) => {
      try {
        response.json(await answer(request.body));
      } catch (error) {
        response
          .status(400)
          .json({ error: error instanceof Error ? error.message : String(error) });
      }
    });
  const inTurn = takeTurns();
  for (const [name, read] of Object.entries(ACTIONS))
    router.post(`/${name}`, act(name, read, { ...parts, inTurn }));
  router.get('/visitor', (_request, response) => {
    const { mayAct, name } = visitorIn(response);
    response.json({ mayAct, name });
  });
  router.use(wrongBody);
  return router;
}
