import type { SpanAttributes, Traces } from '#process/traces/traces.ts';
import type { HttpClient, ProviderRequest } from './http-client.ts';

/**
 * Returns the client with a span for each request. Providers do not learn of the trace, and no
 * query is told.
 */
export function tracedHttpClient(client: HttpClient, traces: Traces | undefined): HttpClient {
  if (traces === undefined) return client;
  return {
    ...client,
    send: async request => {
      const name = `${request.method} ${request.what.replace(/^the /, '')}`;
      const start = { name, kind: 'client', attributes: attributesOf(request) } as const;
      return traces.span(start, () => client.send(request), statusOf);
    },
  };
}

function attributesOf({ method, url }: ProviderRequest): SpanAttributes {
  const parsed = URL.parse(url);
  return {
    'http.request.method': method,
    ...(parsed && { 'server.address': parsed.hostname, 'url.path': parsed.pathname }),
  };
}

function statusOf({ status }: { readonly status: number }): SpanAttributes {
  const told = { 'http.response.status_code': status };
  return status < 400 ? told : { ...told, 'error.type': String(status) };
}
