import http from 'node:http';

export type HttpTarget = {
  /** `host:port`, or `unix:/path`. */
  readonly address: string;
  readonly path: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 1 s. */
  readonly timeoutMs?: number;
};

export type HttpAnswer = { readonly status: number; readonly body: string };

/** Sends one request on its own connection. Rejects when there is no answer in time. */
export function httpRequest({
  address,
  path,
  method = 'GET',
  body,
  headers = {},
  timeoutMs = 1_000,
}: HttpTarget): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      ...connectTo(address),
      path,
      method,
      headers,
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
    });
    request.on('error', reject);
    request.on('response', response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    request.end(body);
  });
}

/**
 * Does the same, for polling.
 * @returns undefined when nobody answers
 */
export async function tryHttpRequest(target: HttpTarget): Promise<HttpAnswer | undefined> {
  try {
    return await httpRequest(target);
  } catch {
    return undefined;
  }
}

function connectTo(address: string): http.RequestOptions {
  if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) };
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname, port };
}
