import type { Express } from 'express';
import { get } from './http-answers.ts';

/** What a service says of itself. */
export type ProbeSources = {
  /**
   * Returns why requests are not answered yet.
   * @returns undefined when they are answered
   */
  notReady(): string | undefined | Promise<string | undefined>;
  /** Returns the metrics in Prometheus' text format. */
  metrics(): Promise<string>;
};

const PROMETHEUS = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Answers `/healthz` (it runs), `/readyz` (503 with the reason while it is not ready) and
 * `/metrics`.
 */
export function answerProbes(app: Express, { metrics, notReady }: ProbeSources): void {
  get(app, '/healthz', (_request, response) => void response.type('text').send('ok\n'));
  get(app, '/readyz', async (_request, response) => {
    const reason = await notReady();
    response.status(reason === undefined ? 200 : 503).type('text');
    response.send(reason === undefined ? 'ready\n' : `not ready: ${reason}\n`);
  });
  get(app, '/metrics', async (_request, response) => {
    response.type(PROMETHEUS).send(await metrics());
  });
}
