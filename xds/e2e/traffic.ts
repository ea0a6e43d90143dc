import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

/** An HTTP server that answers its own name; gives its port. */
export async function startUpstream(t: TestContext, name: string): Promise<number> {
  const server = http.createServer((_request, response) => void response.end(name));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Asks from four callers without pause; `stop` gives what was answered other than 200. */
export function startLoad(url: string) {
  let running = true;
  let answered = 0;
  const failures: string[] = [];
  const caller = async () => {
    while (running) {
      const answer = await ask(url).catch(String);
      if (typeof answer === 'string' || answer.status !== 200) failures.push(JSON.stringify(answer));
      answered += 1;
    }
  };
  const callers = [caller(), caller(), caller(), caller()];
  return {
    answered: () => answered,
    async stop(): Promise<readonly string[]> {
      running = false;
      await Promise.all(callers);
      return failures;
    },
  };
}

export async function ask(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.text() };
}
