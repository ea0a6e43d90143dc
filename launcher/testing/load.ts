import http from 'node:http';

export type Load = {
  /** Ends the load; tells what came back. */
  stop(): Promise<{ readonly answered: number; readonly failures: readonly string[] }>;
};

/** Asks `http://<address><path>` all the time, on `connections` connections that are kept alive. Whatever is not a 200 is a failure. */
export function startLoad(address: string, path: string, connections = 4): Load {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
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
  const lanes = Array.from({ length: connections }, lane);
  const stop = async () => {
    stopped = true;
    await Promise.all(lanes);
    agent.destroy();
    return { answered, failures };
  };
  return { stop };
}
