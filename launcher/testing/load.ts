import http from 'node:http';

export type LoadResult = { readonly answered: number; readonly failures: readonly string[] };

/** How many connections ask at the same time. */
const CONNECTIONS = 4;

/**
 * Requests `http://<address><path>` all the time while `work` goes on, on connections that are kept
 * alive. Returns how many answers came, and the failures other than 200.
 */
export async function underLoad(
  address: string,
  path: string,
  work: () => Promise<void>,
): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const failures: string[] = [];
  let answered = 0;
  let stopped = false;
  const ask = () =>
    new Promise<void>(resolve => {
      const fail = (why: string) => {
        failures.push(why);
        resolve();
      };
      const request = http.get(`http://${address}${path}`, { agent }, response => {
        response.resume();
        response.on('error', error => fail(error.message));
        response.on('end', () => {
          if (response.statusCode !== 200) return fail(`status ${response.statusCode}`);
          answered += 1;
          resolve();
        });
      });
      request.on('error', error => fail(error.message));
    });
  const lane = async () => {
    while (!stopped) await ask();
  };
  const lanes = Array.from({ length: CONNECTIONS }, lane);
  try {
    await work();
  } finally {
    stopped = true;
    await Promise.all(lanes);
    agent.destroy();
  }
  return { answered, failures };
}
