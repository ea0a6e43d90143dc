import { serve } from '#grpc/serve.ts';

export type AuthorizationStub = {
  readonly address: { readonly host: string; readonly port: number };
  /** Returns the paths of the checks since the last call of this. */
  asked(): readonly string[];
  stop(): Promise<void>;
};

type Call = { readonly request: { attributes: { request: { http: { path: string } } } } };

const OK = { status: { code: 0 }, ok_response: {} };
const REFUSED = [
  { header: { key: 'content-type', value: 'text/x-refused' } },
  { header: { key: 'www-authenticate', value: 'Bearer' } },
];

/**
 * Starts a service on a free loopback port that runs no filter. It answers 401 to paths that begin
 * with `refused`, and passes others.
 */
export async function startAuthorizationStub(refused: string): Promise<AuthorizationStub> {
  let asked: string[] = [];
  const Check = ({ request }: Call, callback: (error: null, value: object) => void) => {
    const { path } = request.attributes.request.http;
    asked.push(path);
    const denied_response = { status: { code: 401 }, headers: REFUSED, body: 'refused' };
    const denied = { status: { code: 16 }, denied_response };
    callback(null, path.startsWith(refused) ? denied : OK);
  };
  const served = await serve({
    host: '127.0.0.1',
    port: 0,
    services: { 'envoy.service.auth.v3.Authorization': { Check } },
  });
  return {
    address: { host: '127.0.0.1', port: served.port },
    asked: () => {
      const all = asked;
      asked = [];
      return all;
    },
    stop: () => served.stop(100),
  };
}
