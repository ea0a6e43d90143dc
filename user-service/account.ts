import { type Request, type RequestHandler, type Response, Router } from 'express';
import { type AccountHolder, accountHolder } from './account-holder.ts';
import { accountPage, adminPage, loggedOutPage, PAGE_HEADERS, startPage } from './account-page.ts';
import { HttpError } from './http-error.ts';
import type { Instance } from './instance.ts';

/**
 * Returns the part of the sample behind a login: pages, and the same facts as JSON. It believes the
 * gateway's headers. A client that bypassed the gateway could claim to be any user, so the instance
 * listens on the loopback, behind its proxy.
 */
export function accountRoutes(instance: Instance): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get(
    '/account',
    known((holder, req, res) =>
      send(res, accountPage(holder, instance.hostname, req.get('cookie') ?? '')),
    ),
  );
  router.get(
    '/account/admin',
    known((holder, _req, res) => send(res, adminPage(holder))),
  );
  router.get(
    '/account/api',
    known((holder, _req, res) => void res.json({ ...holder, ...instance, ok: true })),
  );
  router.get('/account/logged-out', (_req, res) => send(res, loggedOutPage()));
  router.get('/', (_req, res) => send(res, startPage()));
  return router;
}

function known(
  handle: (holder: AccountHolder, req: Request, res: Response) => void,
): RequestHandler {
  return (req, res) => {
    const holder = accountHolder(req.headers);
    if (holder === undefined) throw new HttpError(403, 'the gateway does not say who you are');
    handle(holder, req, res);
  };
}

function send(res: Response, text: string): void {
  res.set(PAGE_HEADERS).send(text);
}
