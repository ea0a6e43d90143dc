import http from 'node:http';

export type RequestOptions = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  /** Where to connect to, when that is not where the URL says. */
  readonly agent?: http.Agent;
};

export type RawAnswer = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

/** How long an answer may take, in ms. */
const LONGEST_MS = 20_000;

/**
 * Sends one request with the path as it is written, not normalised. Rejects when there is no whole
 * answer.
 */
export function request(
  base: string,
  path: string,
  options: RequestOptions = {},
): Promise<RawAnswer> {
  const { agent = false, body, headers = {}, method = 'GET' } = options;
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const sent = http.request({ hostname, port, path, method, headers, agent, signal });
    sent.once('error', reject);
    sent.once('response', response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const { headers, statusCode = 0 } = response;
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.end(body);
  });
}

/** Returns the body of an answer with status 200, as JSON. */
export async function getJson<T>(base: string, path: string): Promise<T> {
  const { body, status } = await request(base, path);
  if (status !== 200) throw new Error(`GET ${base}${path}: ${status} ${body}`);
  return JSON.parse(body) as T;
}
